#pragma once
// What kube-state-metrics tells of HorizontalPodAutoscalers → which workloads they scale and by
// what.

#include <map>
#include <string>
#include <tuple>

#include "backfill/matrix_reader.h"
#include "backfill/options.h"
#include "cmd/report/report.h"
#include "model/past.h"

namespace tidemark::cmd {

/// Not thread-safe. Labels are those of kube-state-metrics 2 (kube_horizontalpodautoscaler_info:
/// scaletargetref_kind, scaletargetref_name; …_spec_target_metric: metric_name,
/// metric_target_type).
class AutoscalerReader {
 public:
  explicit AutoscalerReader(const backfill::LabelPairs& external_labels)
      : external_labels_(external_labels) {}

  void Take(PastKind kind, const backfill::AnswerSeries& series);
  report::Autoscalers Finish();

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // cluster, namespace, name

  const backfill::LabelPairs& external_labels_;
  std::map<Key, report::Autoscaler> by_name_;
  std::map<Key, std::pair<std::string, std::string>> scaled_;  // type and name
};

}  // namespace tidemark::cmd
