#pragma once
// Which keys of a profile stand in the file, and where.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/config_fields.h"
#include "cmd/yaml_reader.h"

namespace tidemark::cmd {

/// Keys in the order of the file, named by their path in the profile (`cpu.buckets.first`). Not
/// thread-safe.
class GivenKeys {
 public:
  /// A reader that notes the key and goes on with `read`. This must outlive it.
  FieldReader Noting(std::string path, FieldReader read);

  bool Has(std::string_view path) const;
  /// Of those of `paths` that stand in the file the last: where an error that joins several keys
  /// belongs. `otherwise` when none does.
  const YamlValue& Last(std::initializer_list<std::string_view> paths,
                        const YamlValue& otherwise) const;
  /// All paths, sorted.
  std::vector<std::string> Paths() const;

 private:
  std::vector<std::pair<std::string, YamlValue>> keys_;
};

}  // namespace tidemark::cmd
