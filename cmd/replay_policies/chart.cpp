#include "cmd/replay_policies/chart.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <utility>

#include "cmd/replay_requests/chart.h"

namespace tidemark::replay_policies {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 190;
constexpr double kTop = 8;
constexpr double kBottom = 18;  // the times stand there

std::string DateText(int64_t minute) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(minute * 60)));
}

bool IsKnown(const Span& span) { return !std::isnan(span.low); }

/// Amounts over evenly spaced places, all in one frame.
class Frame {
 public:
  Frame(const std::string& title, const Stretch& stretch, double unit)
      : title_(replay_requests::EscapeHtml(title)), stretch_(stretch), unit_(unit) {}

  void Raise(const Spans& spans) {
    for (const Span& span : spans) {
      if (double{span.high} / unit_ > most_) most_ = double{span.high} / unit_;
    }
  }

  /// From place to place; within one from its least to its most. Broken where nothing is known.
  std::string Line(std::string_view css, const Spans& spans) const {
    std::string path;
    bool open = false;
    for (size_t i = 0; i < spans.size(); ++i) {
      if (!IsKnown(spans[i])) {
        open = false;
        continue;
      }
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", open ? "L" : "M",
                     XOf(i, spans.size()), YOf(spans[i].low));
      if (spans[i].high != spans[i].low) {
        fmt::format_to(std::back_inserter(path), "V{:.1f}", YOf(spans[i].high));
      }
      open = true;
    }
    return Path(css, path);
  }

  /// The same in steps: what holds for a whole place.
  std::string Steps(std::string_view css, const Spans& spans) const {
    std::string path;
    bool open = false;
    for (size_t i = 0; i < spans.size(); ++i) {
      if (!IsKnown(spans[i])) {
        open = false;
        continue;
      }
      if (!open) {
        fmt::format_to(std::back_inserter(path), "M{:.1f} {:.1f}", XOf(i, spans.size()),
                       YOf(spans[i].low));
      }
      const bool moves = !open || spans[i].low != spans[i - 1].low ||
                         spans[i].high != spans[i - 1].high || spans[i].low != spans[i].high;
      if (moves) {
        fmt::format_to(std::back_inserter(path), "H{:.1f}V{:.1f}", XOf(i, spans.size()),
                       YOf(spans[i].low));
        if (spans[i].high != spans[i].low) {
          fmt::format_to(std::back_inserter(path), "V{:.1f}", YOf(spans[i].high));
        }
      }
      open = true;
      if (i + 1 == spans.size() || !IsKnown(spans[i + 1])) {
        fmt::format_to(std::back_inserter(path), "H{:.1f}", XOf(i, spans.size()));
      }
    }
    return Path(css, path);
  }

  /// From least to most; one closed piece for each stretch that is known.
  std::string Band(std::string_view css, const Spans& spans) const {
    std::string path;
    for (size_t i = 0; i < spans.size();) {
      if (!IsKnown(spans[i])) {
        ++i;
        continue;
      }
      const size_t first = i;
      for (; i < spans.size() && IsKnown(spans[i]); ++i) {
        fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", i == first ? "M" : "L",
                       XOf(i, spans.size()), YOf(spans[i].high));
      }
      for (size_t back = i; back-- > first;) {
        fmt::format_to(std::back_inserter(path), "L{:.1f} {:.1f}", XOf(back, spans.size()),
                       YOf(spans[back].low));
      }
      path += 'Z';
    }
    return Path(css, path);
  }

  std::string Svg(const std::string& parts) const {
    std::string svg = fmt::format(
        R"(<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{}"><title>{}</title>{})", kWidth,
        kHeight, title_, title_, parts);
    svg += fmt::format(R"(<path class="axis" d="M0 {0:.1f}H{1:g}"/>)", YOf(0), kWidth);
    svg += fmt::format(R"(<text x="2" y="{:g}">{:.4g}</text>)", kTop + 10, most_);
    svg += fmt::format(R"(<text x="2" y="{0:g}">{1}</text><text x="{2:g}" y="{0:g}" )"
                       R"(text-anchor="end">{3}</text></svg>)",
                       kHeight - 4, DateText(stretch_.first_minute), kWidth - 2,
                       DateText(stretch_.first_minute + stretch_.minutes - 1));
    return svg;
  }

 private:
  static std::string Path(std::string_view css, const std::string& path) {
    return path.empty() ? path : fmt::format(R"(<path class="{}" d="{}"/>)", css, path);
  }
  static double XOf(size_t place, size_t places) {
    return places < 2 ? 0 : static_cast<double>(place) / static_cast<double>(places - 1) * kWidth;
  }
  double YOf(float amount) const {
    const double share = most_ > 0 ? std::clamp(double{amount} / unit_ / most_, 0.0, 1.0) : 0;
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }

  const std::string title_;
  const Stretch& stretch_;
  const double unit_;
  double most_ = 0;
};

std::string PolicyLines(const Frame& frame, const std::vector<Spans>& policies) {
  std::string lines;
  for (size_t p = 0; p < policies.size(); ++p) {
    lines += frame.Steps(fmt::format("line p{}", p), policies[p]);
  }
  return lines;
}

}  // namespace

std::string CapacityChart(const std::string& title, const Stretch& stretch, double base) {
  Frame frame(title, stretch, base);
  frame.Raise(stretch.demand);  // a band that runs away is cut: it says nothing by its height
  for (const Spans& capacity : stretch.capacity) frame.Raise(capacity);
  return frame.Svg(frame.Band("band", stretch.band) + PolicyLines(frame, stretch.capacity) +
                   frame.Line("truth", stretch.demand));
}

std::string ReplicasChart(const std::string& title, const Stretch& stretch) {
  Frame frame(title, stretch, 1);
  for (const Spans& replicas : stretch.replicas) frame.Raise(replicas);
  return frame.Svg(PolicyLines(frame, stretch.replicas));
}

}  // namespace tidemark::replay_policies
