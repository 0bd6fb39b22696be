#pragma once
// The one place that knows which Catch2 we have (v2 in Debian 12; the header moves in v3).
#include <catch2/catch.hpp>
