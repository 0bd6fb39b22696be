#pragma once
// POST /api/v1/rightsize: a manifest in, the same with requests set out; for CI/CD.

#include "model/http.h"
#include "model/profile.h"
#include "model/rightsizing.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

inline constexpr char kRightsizePath[] = "/api/v1/rightsize";

/// The body is a manifest in YAML, of any number of documents, or JSON, at most 3 MiB; objects that
/// have no pods stay as they are. Parameters: `namespace`, of objects that say none ("default");
/// `cluster`, needed where the streams carry more than one; `report=true`.
///
/// The answer is the manifest (application/yaml or application/json, as it came) with the number of
/// requests that were changed in the header Tidemark-Changed-Requests; with `report=true` JSON,
/// data: {changed, manifest, changes: [{document, kind, namespace, name, container, resource,
/// before, after, rule, what}], kept: [the same]}. Whoever asks takes the recommendations over:
/// what a profile would only show is set (docs/rightsize-manifests.md). 400 with the line for what
/// is no manifest, 404 for a cluster that is not known. Thread-safe.
HttpResponse RightsizeAnswer(const Snapshot& snapshot, const ProfileSet& profiles,
                             const RightsizingSettings& settings, const HttpRequest& request);

}  // namespace tidemark::exporter
