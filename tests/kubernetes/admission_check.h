#pragma once
// What must hold for every answer of the webhook, whatever was sent.

#include <string>
#include <string_view>

#include "tests/kubernetes/admission_cases.h"

namespace tidemark::kubernetes::testing {

/// Sends `body`, and where it was answered with a patch, the patched pod again. Throws
/// std::runtime_error with what is wrong: an answer that kube-apiserver would not take; a patch
/// that cannot be applied, touches anything but requests and our annotations, requests more than a
/// limit or what is no quantity, changes the QoS class without `may_change_qos`, leaves no readable
/// record of the originals, or is not the last word. True where there was a patch.
bool CheckAnswer(const Webhook& webhook, const std::string& body, bool may_change_qos);

}  // namespace tidemark::kubernetes::testing
