#include "cmd/config_given.h"

#include <algorithm>

namespace tidemark::cmd {

FieldReader GivenKeys::Noting(std::string path, FieldReader read) {
  return [this, path = std::move(path), read = std::move(read)](const YamlValue& value) {
    keys_.emplace_back(path, value);
    return read(value);
  };
}

bool GivenKeys::Has(std::string_view path) const {
  return std::ranges::any_of(keys_, [path](const auto& key) { return key.first == path; });
}

const YamlValue& GivenKeys::Last(std::initializer_list<std::string_view> paths,
                                 const YamlValue& otherwise) const {
  const auto found = std::find_if(keys_.rbegin(), keys_.rend(), [paths](const auto& key) {
    return std::ranges::find(paths, key.first) != paths.end();
  });
  return found == keys_.rend() ? otherwise : found->second;
}

std::vector<std::string> GivenKeys::Paths() const {
  std::vector<std::string> paths;
  paths.reserve(keys_.size());
  for (const auto& [path, value] : keys_) paths.push_back(path);
  std::ranges::sort(paths);
  return paths;
}

}  // namespace tidemark::cmd
