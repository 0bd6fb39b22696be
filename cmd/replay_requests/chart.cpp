#include "cmd/replay_requests/chart.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>

#include "cmd/replay_requests/report_text.h"
#include "model/amount_text.h"

namespace tidemark::replay_requests {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 150;
constexpr double kTop = 8;
constexpr double kBottom = 18;  // the times stand there
constexpr size_t kColumns = 720;

std::string DateText(int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)));
}

/// The most that any pod used, by column; kAbsent where none was there.
std::vector<double> Use(const Trace& trace, size_t resource) {
  std::vector<double> use(std::min(kColumns, trace.steps), kAbsent);
  for (const PodUsage& pod : trace.pods) {
    for (size_t step = 0; step < trace.steps; ++step) {
      const double sample = pod.samples[resource][step];
      double& column = use[step * use.size() / trace.steps];
      if (IsThere(sample) && !(sample <= column)) column = sample;
    }
  }
  return use;
}

class Drawing {
 public:
  Drawing(const ReplayReport& report, size_t trace, size_t resource)
      : trace_(report.traces[trace]),
        outcomes_(report.outcomes[trace]),
        times_(report.options.times),
        resource_(resource),
        use_(Use(trace_, resource)) {
    for (const double use : use_) Raise(use);
    for (const auto& outcome : outcomes_) {
      for (const double request : outcome[resource].requests) Raise(request);
    }
  }

  std::string Svg() const {
    std::string svg = fmt::format(
        R"(<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{} of {}"><title>{} of {}</title>)",
        kWidth, kHeight, TitleOf(kReplayed[resource_]), EscapeHtml(trace_.name),
        TitleOf(kReplayed[resource_]), EscapeHtml(trace_.name));
    const double warm =
        XOf(static_cast<double>(times_.warm_up_ms) / static_cast<double>(trace_.step_ms));
    svg += fmt::format(R"(<rect class="warm" x="0" y="{:g}" width="{:.1f}" height="{:g}"/>)", kTop,
                       warm, kHeight - kTop - kBottom);
    svg += fmt::format(R"(<path class="use" d="{}"/>)", UsePath());
    for (size_t p = 0; p < outcomes_.size(); ++p) {
      const std::string path = RequestPath(outcomes_[p][resource_].requests);
      if (!path.empty()) svg += fmt::format(R"(<path class="request p{}" d="{}"/>)", p, path);
    }
    svg += fmt::format(R"(<path class="axis" d="M0 {0:.1f}H{1:g}"/>)", YOf(0), kWidth);
    svg += fmt::format(R"(<text x="2" y="{:g}">{}</text>)", kTop + 10,
                       EscapeHtml(AmountText(kReplayed[resource_], most_)));
    svg += fmt::format(R"(<text x="2" y="{0:g}">{1}</text><text x="{2:g}" y="{0:g}" )"
                       R"(text-anchor="end">{3}</text></svg>)",
                       kHeight - 4, DateText(trace_.start_ms), kWidth - 2,
                       DateText(trace_.TimeOf(trace_.steps - 1)));
    return svg;
  }

 private:
  void Raise(double amount) {
    if (IsThere(amount) && amount > most_) most_ = amount;
  }
  double XOf(double step) const {
    return std::min(kWidth, step / static_cast<double>(trace_.steps) * kWidth);
  }
  double YOf(double amount) const {
    const double share = most_ > 0 ? amount / most_ : 0;
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }

  std::string UsePath() const {
    std::string path = fmt::format("M0 {:.1f}", YOf(0));
    const double width = kWidth / static_cast<double>(use_.size());
    for (size_t c = 0; c < use_.size(); ++c) {
      const double use = IsThere(use_[c]) ? use_[c] : 0;
      fmt::format_to(std::back_inserter(path), "V{:.1f}H{:.1f}", YOf(use),
                     width * static_cast<double>(c + 1));
    }
    return path + fmt::format("V{:.1f}Z", YOf(0));
  }

  /// Of several intervals in one column the highest.
  std::string RequestPath(const std::vector<double>& requests) const {
    std::string path;
    const size_t together = std::max<size_t>(1, requests.size() / kColumns);
    const double each =
        static_cast<double>(times_.interval_ms) / static_cast<double>(trace_.step_ms);
    const double first =
        std::ceil(static_cast<double>(times_.warm_up_ms) / static_cast<double>(trace_.step_ms));
    for (size_t i = 0; i < requests.size(); i += together) {
      const size_t end = std::min(i + together, requests.size());
      double most = kAbsent;
      for (size_t j = i; j < end; ++j) {
        if (IsThere(requests[j]) && !(requests[j] <= most)) most = requests[j];
      }
      if (!IsThere(most)) continue;
      if (path.empty()) {
        path = fmt::format("M{:.1f} {:.1f}", XOf(first + each * static_cast<double>(i)), YOf(most));
      }
      fmt::format_to(std::back_inserter(path), "V{:.1f}H{:.1f}", YOf(most),
                     XOf(first + each * static_cast<double>(end)));
    }
    return path;
  }

  const Trace& trace_;
  const std::vector<ByResource<Outcome>>& outcomes_;
  const ReplayTimes& times_;
  const size_t resource_;
  const std::vector<double> use_;
  double most_ = 0;
};

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char byte : text) {
    switch (byte) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += byte;
    }
  }
  return escaped;
}

std::string Chart(const ReplayReport& report, size_t trace, size_t resource) {
  return Drawing(report, trace, resource).Svg();
}

}  // namespace tidemark::replay_requests
