#pragma once
// What must not be said again: a server (or a proxy that debugs) may repeat in its errors what it
// was sent, and those errors stand in logs and statuses.

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::client {

/// Not thread-safe.
class Secrets {
 public:
  void Clear() { secrets_.clear(); }
  /// Texts of fewer than four bytes are not hidden: they stand in too many words.
  void Add(std::string_view secret);
  /// As basic authentication sends them, and the password alone.
  void AddBasic(std::string_view username, std::string_view password);

  /// The text with `<hidden>` in place of each.
  std::string Hide(std::string text) const;

 private:
  std::vector<std::string> secrets_;
};

}  // namespace tidemark::client
