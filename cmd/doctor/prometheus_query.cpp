#include "cmd/doctor/prometheus_query.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>

#include "cmd/doctor/json_view.h"

namespace tidemark::doctor {

QueryReply Query(Asker& prometheus, const std::string& expression) {
  const JsonReply reply = GetJson(prometheus, "/api/v1/query", {{"query", expression}});
  QueryReply out{.trouble = reply.trouble};
  if (!reply.good()) return out;
  if (TextAt(reply.value, {"status"}) != "success") {
    out.trouble = "/api/v1/query: what answers is no Prometheus";
    return out;
  }
  for (const boost::json::value& item : ListAt(reply.value, {"data", "result"})) {
    auto& [labels, value] = out.series.emplace_back();
    for (const auto& member : MapAt(item, {"metric"})) {
      if (const auto* const text = member.value().if_string()) {
        labels.emplace(std::string(member.key()), std::string(*text));
      }
    }
    const boost::json::array& pair = ListAt(item, {"value"});
    if (pair.size() != 2 || !pair[1].is_string()) continue;
    const boost::json::string& text = pair[1].get_string();
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return out;
}

}  // namespace tidemark::doctor
