#pragma once
// A password or token in a file of its own.

#include <string>

#include "model/result.h"

namespace tidemark::client {

/// The content without blanks and line ends around it, as Prometheus reads it. kIo, naming the
/// path: unreadable, no regular file, empty, over 64 KiB, more than one line.
Result<std::string> ReadSecretFile(const std::string& path);

}  // namespace tidemark::client
