#pragma once
// GET …/namespaces/{namespace}/{metric}: one value of one workload, or a sentence that says why
// not. An HPA adds up what it is given and takes what is missing for nothing, so that there is
// never more than one item and never none.

#include <string_view>
#include <vector>

#include "kubernetes/routes.h"
#include "model/http.h"

namespace tidemark::kubernetes {

/// Of an authenticated request, by one Snapshot. `name_space`: empty for all, of which there is
/// only a table. Counts the answer. Thread-safe.
HttpResponse ExternalMetricAnswer(const Sources& sources, const HttpRequest& request,
                                  std::string_view name_space, std::string_view metric_name);

}  // namespace tidemark::kubernetes
