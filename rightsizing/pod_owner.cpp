#include "rightsizing/pod_owner.h"

#include <algorithm>
#include <cctype>

namespace tidemark::rightsizing {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// `name` less "-" and the value of the label, where it ends in that.
std::optional<std::string> Without(const std::string& name, std::string_view label,
                                   const std::map<std::string, std::string, std::less<>>& labels) {
  const auto hash = labels.find(label);
  if (hash == labels.end() || hash->second.empty()) return std::nullopt;
  const std::string ending = "-" + hash->second;
  if (!name.ends_with(ending) || name.size() == ending.size()) return std::nullopt;
  return name.substr(0, name.size() - ending.size());
}

/// The CronJob of a Job whose name ends in the time it was meant to run at: minutes since 1970
/// (Kubernetes 1.21 on), before that seconds.
std::optional<std::string> CronJobOf(std::string_view job) {
  constexpr size_t kLeastDigits = 8;
  constexpr size_t kMostDigits = 10;
  const size_t dash = job.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view time = job.substr(dash + 1);
  if (time.size() < kLeastDigits || time.size() > kMostDigits ||
      !std::ranges::all_of(time, [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  return std::string(job.substr(0, dash));
}

}  // namespace

std::optional<std::pair<std::string, std::string>> WorkloadOf(
    const std::optional<ControllerReference>& controller,
    const std::map<std::string, std::string, std::less<>>& labels) {
  if (!controller || controller->kind.empty() || controller->name.empty()) return std::nullopt;
  const std::string& name = controller->name;
  if (controller->kind == "Node") return std::nullopt;
  if (controller->kind == "ReplicaSet") {
    if (auto of = Without(name, "pod-template-hash", labels)) return std::pair{"deployment", *of};
    if (auto of = Without(name, "rollouts-pod-template-hash", labels)) {
      return std::pair{"rollout", *of};
    }
  }
  if (controller->kind == "Job") {
    if (auto of = CronJobOf(name)) return std::pair{"cronjob", *of};
  }
  return std::pair{Lower(controller->kind), name};
}

}  // namespace tidemark::rightsizing
