#pragma once
// Configurations for properties: random good ones, and when two are the same.

#include <random>

#include "cmd/config.h"

namespace tidemark::cmd {

/// Any Config that a file can lead to.
Config RandomConfig(std::mt19937_64& random);

bool SameConfig(const Config& a, const Config& b);

}  // namespace tidemark::cmd
