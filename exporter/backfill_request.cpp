#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include "exporter/backfill_api.h"
#include "model/rfc3339.h"

namespace tidemark::exporter {
namespace {

namespace json = boost::json;

constexpr double kMaxSeconds = 253402300799.0;  // year 9999

tl::unexpected<Error> Wrong(std::string_view member, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "\"" + std::string(member) + "\": " + std::string(what));
}

using Read = std::function<Result<void>(std::string_view member, const json::value&)>;
struct Member {
  std::string_view name;
  Read read;
};

Read Text(std::string& out) {
  return [&out](std::string_view member, const json::value& value) -> Result<void> {
    if (!value.is_string()) return Wrong(member, "it is no text, allowed: a text");
    out.assign(value.get_string().data(), value.get_string().size());
    return {};
  };
}

Read Bool(bool& out) {
  return [&out](std::string_view member, const json::value& value) -> Result<void> {
    if (!value.is_bool()) return Wrong(member, "it is no truth value, allowed: true, false");
    out = value.get_bool();
    return {};
  };
}

/// A number of seconds, at least one millisecond.
Result<int64_t> SecondsOf(std::string_view member, const json::value& value) {
  constexpr std::string_view kAllowed = "allowed: seconds above 0";
  if (!value.is_number()) return Wrong(member, std::string("it is no number, ") + kAllowed.data());
  const auto seconds = value.to_number<double>();
  if (!(seconds >= 0.001) || seconds > kMaxSeconds) {
    return Wrong(member, std::string("it is out of range, ") + kAllowed.data());
  }
  return std::llround(seconds * 1000);
}

Read Time(int64_t& out) {
  return [&out](std::string_view member, const json::value& value) -> Result<void> {
    if (value.is_string()) {
      const auto time = ParseRfc3339({value.get_string().data(), value.get_string().size()});
      if (!time || *time <= 0) {
        return Wrong(member,
                     "it is no time, allowed: RFC 3339 such as 2026-11-01T00:00:00Z, or "
                     "seconds since 1970 as a number");
      }
      out = *time;
      return {};
    }
    auto time = SecondsOf(member, value);
    if (!time) return tl::unexpected(time.error());
    out = *time;
    return {};
  };
}

Read Seconds(int64_t& out) {
  return [&out](std::string_view member, const json::value& value) -> Result<void> {
    auto time = SecondsOf(member, value);
    if (!time) return tl::unexpected(time.error());
    out = *time;
    return {};
  };
}

Read Texts(std::vector<std::pair<std::string, std::string>>& out) {
  return [&out](std::string_view member, const json::value& value) -> Result<void> {
    constexpr size_t kMax = 64;
    constexpr std::string_view kWhat = "allowed: an object of at most 64 texts";
    if (!value.is_object()) return Wrong(member, std::string("it is no object, ") + kWhat.data());
    if (value.get_object().size() > kMax) {
      return Wrong(member, std::string("it is too long, ") + kWhat.data());
    }
    for (const auto& [key, text] : value.get_object()) {
      if (!text.is_string())
        return Wrong(member, std::string("not all are texts, ") + kWhat.data());
      out.emplace_back(std::string(key.data(), key.size()),
                       std::string(text.get_string().data(), text.get_string().size()));
    }
    return {};
  };
}

Result<void> ReadObject(const json::object& object, std::string_view where,
                        const std::vector<Member>& members) {
  for (const auto& [key, value] : object) {
    const std::string_view name(key.data(), key.size());
    bool known = false;
    for (const Member& member : members) {
      if (member.name != name) continue;
      known = true;
      const std::string path = std::string(where) + std::string(name);
      if (auto good = member.read(path, value); !good) return good;
    }
    if (known) continue;
    std::string allowed;
    for (const Member& member : members) {
      allowed.append(allowed.empty() ? "" : ", ").append(member.name);
    }
    return Fail(ErrorCode::kInvalidArgument,
                std::string(where.empty() ? "the request" : where) +
                    " has a member that is not known, allowed: " + allowed);
  }
  return {};
}

Read Tls(BackfillRequest& out) {
  return [&out](std::string_view member, const json::value& value) -> Result<void> {
    if (!value.is_object()) return Wrong(member, "it is no object, allowed: an object");
    return ReadObject(value.get_object(), "tls.",
                      {{"ca", Text(out.ca_pem)},
                       {"cert", Text(out.certificate_pem)},
                       {"key", Text(out.key_pem)},
                       {"server_name", Text(out.server_name)},
                       {"insecure_skip_verify", Bool(out.insecure_skip_verify)}});
  };
}

}  // namespace

Result<BackfillRequest> ParseBackfillRequest(std::string_view text) {
  json::error_code wrong;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), wrong);
  if (wrong || !value.is_object()) {
    return Fail(ErrorCode::kInvalidArgument,
                "the body is no JSON object, allowed: {\"prometheus\": "
                "\"http://HOST:PORT\", ...}");
  }
  BackfillRequest request;
  auto good = ReadObject(value.get_object(), "",
                         {{"prometheus", Text(request.url)},
                          {"start", Time(request.start_ms)},
                          {"end", Time(request.end_ms)},
                          {"step", Seconds(request.step_ms)},
                          {"username", Text(request.username)},
                          {"password", Text(request.password)},
                          {"bearer_token", Text(request.bearer_token)},
                          {"headers", Texts(request.headers)},
                          {"external_labels", Texts(request.external_labels)},
                          {"tls", Tls(request)},
                          {"restart", Bool(request.restart)}});
  if (!good) return tl::unexpected(good.error());
  return request;
}

}  // namespace tidemark::exporter
