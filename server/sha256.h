#pragma once
// SHA-256 of short texts, for comparing secrets without keeping or comparing them as they are.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tidemark::server {

using Sha256 = std::array<uint8_t, 32>;

/// Of the parts, each behind its length, so that no two lists of parts read the same. Thread-safe.
Sha256 HashParts(std::initializer_list<std::string_view> parts);

/// Takes the same time wherever they differ.
bool EqualInConstantTime(const Sha256& a, const Sha256& b);

/// 32 bytes that nobody can guess. Ends the process when the system has no randomness to give.
Sha256 RandomBytes();

}  // namespace tidemark::server
