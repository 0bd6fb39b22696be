#pragma once
// JSON Patch (RFC 6902) of the tests' own, as strict as kube-apiserver's.

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace tidemark::kubernetes::testing {

/// Applies `patch` to `document`. Knows `add` and nothing else. Throws std::runtime_error with what
/// is wrong: an operation that is none, a pointer that is none, a parent that is not there.
void ApplyPatch(boost::json::value& document, const boost::json::value& patch);

/// Throws std::runtime_error on what is no padded Base64.
std::string FromBase64(std::string_view text);

}  // namespace tidemark::kubernetes::testing
