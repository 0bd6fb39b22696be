#include "cmd/doctor/cluster_version.h"

#include <charconv>

#include "cmd/doctor/json_view.h"

namespace tidemark::doctor {

std::optional<int> MinorVersionOf(Asker& kubernetes) {
  const JsonReply reply = GetJson(kubernetes, "/version");
  if (!reply.good() || TextAt(reply.value, {"major"}) != "1") return std::nullopt;
  const std::string text = TextAt(reply.value, {"minor"});  // "33", "27+" of some providers
  int minor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), minor);
  if (error != std::errc()) return std::nullopt;
  return minor;
}

}  // namespace tidemark::doctor
