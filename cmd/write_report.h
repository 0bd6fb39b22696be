#pragma once
// Where the report of a command goes.

#include <string>

#include "model/result.h"

namespace tidemark::cmd {

/// To a file, or to standard output when `path` is empty. kIo: it cannot be written.
Result<void> WriteReport(const std::string& path, const std::string& text);

}  // namespace tidemark::cmd
