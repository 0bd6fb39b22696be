#pragma once
// A file of bearer tokens, one a line.

#include <string>
#include <vector>

#include "model/result.h"
#include "server/sha256.h"

namespace tidemark::server {

inline constexpr size_t kMaxTokens = 10'000;

/// The hash of a token as ReadTokenFile keeps it.
Sha256 HashToken(std::string_view token);

/// Whether it is one of them. Takes the same time whichever it is.
bool HasToken(const std::vector<Sha256>& tokens, std::string_view token);

/// Blank lines and those that begin with '#' are skipped, blanks around a token too. Errors name
/// the file and the line, never a token: no token at all, blanks or bytes beyond printable ASCII
/// within one (no header could carry it), more than kMaxTokens.
Result<std::vector<Sha256>> ReadTokenFile(const std::string& path);

}  // namespace tidemark::server
