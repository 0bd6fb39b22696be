#pragma once
// Looks into JSON of others, which may have any shape: what is absent or of another type is empty.
// For this library's .cpp files only.

#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/doctor/asker.h"

namespace tidemark::doctor {

using Path = std::initializer_list<std::string_view>;

/// Null when it is not there.
const boost::json::value* At(const boost::json::value& value, Path path);
std::string TextAt(const boost::json::value& value, Path path);
std::optional<int64_t> IntegerAt(const boost::json::value& value, Path path);
std::optional<double> NumberAt(const boost::json::value& value, Path path);
bool IsTrueAt(const boost::json::value& value, Path path);
const boost::json::array& ListAt(const boost::json::value& value, Path path);
const boost::json::object& MapAt(const boost::json::value& value, Path path);
/// The texts of a list; other items are left out.
std::vector<std::string> TextsAt(const boost::json::value& value, Path path);

/// A reply and what it says.
struct JsonReply {
  unsigned status = 0;
  std::string trouble{};  ///< empty: it is good JSON of a 2xx
  boost::json::value value{};

  bool good() const { return trouble.empty(); }
};
JsonReply AskJson(Asker& asker, const client::Request& request);
JsonReply GetJson(Asker& asker, std::string path, client::Parameters query = {});

/// The items of a Kubernetes list, over all its pages (at most 200 of 500).
struct ListReply {
  unsigned status = 0;
  std::string trouble{};
  std::vector<boost::json::value> items{};

  bool good() const { return trouble.empty(); }
};
ListReply ListAll(Asker& kubernetes, const std::string& path);

}  // namespace tidemark::doctor
