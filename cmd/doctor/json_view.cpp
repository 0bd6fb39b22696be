#include "cmd/doctor/json_view.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

namespace tidemark::doctor {
namespace json = boost::json;

const json::value* At(const json::value& value, Path path) {
  const json::value* at = &value;
  for (const std::string_view key : path) {
    const json::object* const map = at->if_object();
    if (map == nullptr) return nullptr;
    at = map->if_contains(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string TextAt(const json::value& value, Path path) {
  const json::value* const found = At(value, path);
  const json::string* const text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? "" : std::string(*text);
}

std::optional<int64_t> IntegerAt(const json::value& value, Path path) {
  const json::value* const found = At(value, path);
  if (found == nullptr || found->if_int64() == nullptr) return std::nullopt;
  return *found->if_int64();
}

std::optional<double> NumberAt(const json::value& value, Path path) {
  const json::value* const found = At(value, path);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

bool IsTrueAt(const json::value& value, Path path) {
  const json::value* const found = At(value, path);
  return found != nullptr && found->if_bool() != nullptr && *found->if_bool();
}

const json::array& ListAt(const json::value& value, Path path) {
  static const json::array kEmpty;
  const json::value* const found = At(value, path);
  return found == nullptr || !found->is_array() ? kEmpty : *found->if_array();
}

const json::object& MapAt(const json::value& value, Path path) {
  static const json::object kEmpty;
  const json::value* const found = At(value, path);
  return found == nullptr || !found->is_object() ? kEmpty : *found->if_object();
}

std::vector<std::string> TextsAt(const json::value& value, Path path) {
  std::vector<std::string> texts;
  for (const json::value& item : ListAt(value, path)) {
    if (const json::string* const text = item.if_string()) texts.emplace_back(*text);
  }
  return texts;
}

JsonReply AskJson(Asker& asker, const client::Request& request) {
  const Reply reply = asker.Ask(request);
  if (!reply.good()) return {.status = reply.status, .trouble = reply.trouble};
  boost::system::error_code error;
  json::value value = json::parse(reply.body, error);
  if (error) {
    return {.status = reply.status,
            .trouble = fmt::format("{}: the answer is no JSON", request.path)};
  }
  return {.status = reply.status, .value = std::move(value)};
}

JsonReply GetJson(Asker& asker, std::string path, client::Parameters query) {
  return AskJson(asker, {.path = std::move(path), .query = std::move(query)});
}

ListReply ListAll(Asker& kubernetes, const std::string& path) {
  constexpr int kMaxPages = 200;
  ListReply all;
  std::string next;
  for (int page = 0; page < kMaxPages; ++page) {
    client::Parameters query = {{"limit", "500"}};
    if (!next.empty()) query.emplace_back("continue", next);
    const JsonReply reply = GetJson(kubernetes, path, query);
    all.status = reply.status;
    if (!reply.good()) {
      all.trouble = reply.trouble;
      return all;
    }
    for (const json::value& item : ListAt(reply.value, {"items"})) all.items.push_back(item);
    next = TextAt(reply.value, {"metadata", "continue"});
    if (next.empty()) return all;
  }
  return all;
}

}  // namespace tidemark::doctor
