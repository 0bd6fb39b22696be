#pragma once
// `remote_write.ha` and `remote_write.late` of the configuration. Used by the configuration's own
// files only.

#include <string>

#include "cmd/config_fields.h"
#include "cmd/yaml_reader.h"
#include "remote_write/ha_options.h"

namespace tidemark::cmd {

/// A map; `out` holds the defaults.
Result<void> ReadHa(const YamlValue& value, remote_write::HaOptions& out);
/// The lines of `ha:` and `late:`, as they stand below `remote_write:`.
std::string DumpHaAndLate(const remote_write::HaOptions& ha, bool refuse_late);

/// `ignore` or `refuse`.
FieldReader LatePolicy(bool& refuse);

}  // namespace tidemark::cmd
