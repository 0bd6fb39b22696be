#pragma once
// Request targets (RFC 9112 section 3.2): the path and the query, percent-decoded.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::server {

struct Target {
  std::string path;  ///< starts with '/'; decoded bytes, also %2F and %00; dot segments are left as
                     ///< they are
  std::string raw_path;  ///< the same as it was sent, with its escapes
  std::vector<std::pair<std::string, std::string>>
      query;  ///< '+' is a blank; empty parts are left out
};

/// Takes the origin form ("/path?query") and the absolute form ("http://host/path"), whose
/// authority is dropped, as Host decides nothing here. Nothing for every other form, for a fragment
/// and for a malformed escape.
std::optional<Target> ParseTarget(std::string_view text);

}  // namespace tidemark::server
