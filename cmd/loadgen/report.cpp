#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "cmd/loadgen/run.h"

namespace tidemark::loadgen {
namespace {

double PerSecond(const LoadReport& report) {
  return report.seconds > 0 ? static_cast<double>(report.samples_acknowledged) / report.seconds : 0;
}

std::string_view NameOf(Protocol protocol) { return protocol == Protocol::kV2 ? "2.0" : "1.0"; }

std::string UrlOf(const Target& target) {
  const bool is_ipv6 = target.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}{}", is_ipv6 ? "[" : "", target.host, is_ipv6 ? "]" : "",
                     target.port, target.path);
}

/// As a JSON string; bytes that are no ASCII or are control bytes become question marks.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c < ' ' || c == 0x7f ? '?' : c);
  }
  return quoted += '"';
}

}  // namespace

std::string ReportText(const LoadOptions& options, const LoadReport& report) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<14}{}\n", name, value);
  };
  line("target", fmt::format("{}, remote write {}, {} connections", UrlOf(options.target),
                             NameOf(options.protocol), options.connections));
  line("load", fmt::format("{} series of {} containers in {} pods ({} replaced), {} rounds of {} s",
                           report.series, report.containers, report.pods, report.pods_replaced,
                           report.rounds, static_cast<double>(options.interval.count()) / 1000));
  line("sample time", fmt::format("{} to {} (Unix ms)", report.first_time_ms, report.last_time_ms));
  line("samples",
       fmt::format("{} sent, {} acknowledged, {:.0f}/s for {:.2f} s", report.samples_sent,
                   report.samples_acknowledged, PerSecond(report), report.seconds));
  std::string statuses;
  for (const auto& [status, count] : report.statuses) {
    fmt::format_to(std::back_inserter(statuses), ", {} x {}", count,
                   status == 0 ? "no answer" : std::to_string(status));
  }
  line("requests", fmt::format("{}{}, {} retries, {:.1f} MB", report.requests, statuses,
                               report.retries, static_cast<double>(report.bytes_sent) / 1e6));
  line("latency",
       fmt::format("p50 {:.1f} ms, p99 {:.1f} ms, max {:.1f} ms", report.latency.p50_seconds * 1000,
                   report.latency.p99_seconds * 1000, report.latency.max_seconds * 1000));
  if (options.rate > 0) {
    line("late starts",
         fmt::format("{}, at most {:.3f} s", report.late_starts, report.max_lateness_seconds));
  }
  line("own CPU", fmt::format("{:.2f} s encoding, {:.2f} s sending", report.encode_cpu_seconds,
                              report.send_cpu_seconds));
  if (report.caught_up) line("ended early", "sample times have reached the wall clock");
  if (report.interrupted) line("ended early", "by a signal");
  if (!report.first_refusal.empty()) line("first refusal", Quoted(report.first_refusal));
  return text;
}

std::string ReportJson(const LoadOptions& options, const LoadReport& report) {
  std::string statuses;
  for (const auto& [status, count] : report.statuses) {
    fmt::format_to(std::back_inserter(statuses), "{}\"{}\":{}", statuses.empty() ? "" : ",", status,
                   count);
  }
  return fmt::format(
      R"({{"url":{},"protocol":"{}","connections":{},"series":{},"containers":{},"pods":{},)"
      R"("pods_replaced":{},"rounds":{},"first_time_ms":{},"last_time_ms":{},"requests":{},)"
      R"("statuses":{{{}}},"retries":{},"samples_sent":{},"samples_acknowledged":{},)"
      R"("samples_per_second":{:.1f},"bytes_sent":{},"seconds":{:.6f},"latency_p50_seconds":{:.6f},)"
      R"("latency_p99_seconds":{:.6f},"latency_max_seconds":{:.6f},"late_starts":{},)"
      R"("max_lateness_seconds":{:.6f},"encode_cpu_seconds":{:.6f},"send_cpu_seconds":{:.6f},)"
      R"("interrupted":{},"caught_up":{},"first_refusal":{}}})"
      "\n",
      Quoted(UrlOf(options.target)), NameOf(options.protocol), options.connections, report.series,
      report.containers, report.pods, report.pods_replaced, report.rounds, report.first_time_ms,
      report.last_time_ms, report.requests, statuses, report.retries, report.samples_sent,
      report.samples_acknowledged, PerSecond(report), report.bytes_sent, report.seconds,
      report.latency.p50_seconds, report.latency.p99_seconds, report.latency.max_seconds,
      report.late_starts, report.max_lateness_seconds, report.encode_cpu_seconds,
      report.send_cpu_seconds, report.interrupted, report.caught_up, Quoted(report.first_refusal));
}

}  // namespace tidemark::loadgen
