#include "backfill/label_names.h"

#include <string>

#include "backfill/query_text.h"

namespace tidemark::backfill {

PastMetric Exported(PastMetric metric) {
  for (std::string* const label :
       {&metric.namespace_label, &metric.pod_label, &metric.container_label}) {
    if (!label->empty()) label->insert(0, "exported_");
  }
  return metric;
}

PastMetric WithoutExported(PastMetric metric) {
  if (!metric.matchers.empty()) metric.matchers.append(",");
  metric.matchers.append(Matchers().Equals("exported_" + metric.namespace_label, "").text());
  return metric;
}

std::optional<PastMetric> OldNames(const PastMetric& metric) {
  PastMetric old = metric;
  if (metric.pod_label == "pod") old.pod_label = "pod_name";
  if (metric.container_label == "container") old.container_label = "container_name";
  if (old.pod_label == metric.pod_label && old.container_label == metric.container_label) return {};
  return old;
}

}  // namespace tidemark::backfill
