#pragma once
// What a front proxy says of the user that it asks for.

#include <optional>
#include <vector>

#include "kubernetes/authenticator.h"
#include "kubernetes/request_header_config.h"
#include "model/http.h"

namespace tidemark::kubernetes {

/// Absent when no header names the user. The name and the uid are the first header that is not
/// empty, in the order of the configured names; groups are all values that are not empty; extras'
/// keys are percent-decoded, after the case of their letters is lost on the way. As
/// k8s.io/apiserver's headerrequest reads them (v1.33). The caller has made sure that a front proxy
/// asks: anybody can send these headers. Stateless, thread-safe.
std::optional<Identity> ReadProxiedUser(const RequestHeaderConfig& config,
                                        const std::vector<HttpHeader>& headers);

}  // namespace tidemark::kubernetes
