#include "backfill/window.h"

#include <algorithm>
#include <utility>

namespace tidemark::backfill {

std::string LiveLabelBytes(const std::vector<std::pair<std::string, std::string>>& labels,
                           const Options& options) {
  std::vector<LabelView> views;
  for (const auto& [name, value] : labels) {
    if (value.empty() ||
        std::ranges::find(options.drop_labels, name) != options.drop_labels.end()) {
      continue;
    }
    views.push_back({name, value});
  }
  for (const auto& [name, value] : options.external_labels) {
    const bool there = std::ranges::any_of(
        views, [&name = name](const LabelView& view) { return view.name == name; });
    if (!there && !value.empty()) views.push_back({name, value});
  }
  std::ranges::sort(views, {}, &LabelView::name);
  const LabelLimits& limits = options.label_limits;
  const bool good = views.size() <= limits.max_labels &&
                    !FindLabel(views, kMetricNameLabel).empty() &&
                    std::ranges::all_of(views, [&](const LabelView& view) {
                      return !view.name.empty() && view.name.size() <= limits.max_name_bytes &&
                             view.value.size() <= limits.max_value_bytes;
                    });
  return good ? EncodeLabels(views) : std::string();
}

void Window::Take(QueryAnswer answer) {
  series_.reserve(series_.size() + answer.series.size());
  for (AnswerSeries& from : answer.series) {
    Kept kept;
    kept.label_bytes = LiveLabelBytes(from.labels, options_);
    if (kept.label_bytes.empty()) {
      ++left_out_;
      continue;
    }
    kept.samples = std::move(from.samples);
    std::ranges::stable_sort(kept.samples, {}, &Sample::timestamp_ms);
    series_.push_back(std::move(kept));
  }
}

WriteVerdict Window::ApplyTo(Past& past, int64_t from_ms, int64_t to_ms, int64_t step_ms) {
  WriteVerdict verdict;
  for (Kept& kept : series_) {
    if (kept.labels.empty()) DecodeLabels(kept.label_bytes, kept.labels);
    while (kept.next < kept.samples.size() && kept.samples[kept.next].timestamp_ms < from_ms) {
      ++kept.next;
    }
  }
  for (int64_t slice_ms = from_ms; slice_ms <= to_ms; slice_ms += step_ms) {
    bool any = false;
    const int64_t end_ms = std::min(slice_ms + step_ms, to_ms + 1);
    for (Kept& kept : series_) {
      const size_t begin = kept.next;
      while (kept.next < kept.samples.size() && kept.samples[kept.next].timestamp_ms < end_ms) {
        ++kept.next;
      }
      if (kept.next == begin) continue;
      any = true;
      IncomingSeries incoming{.labels = kept.labels,
                              .label_bytes = kept.label_bytes,
                              .samples = {kept.samples.data() + begin, kept.next - begin}};
      past.Add(incoming);
    }
    if (any) verdict.Merge(past.ApplySlice());
  }
  return verdict;
}

}  // namespace tidemark::backfill
