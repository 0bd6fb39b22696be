#pragma once
// JSON files with numbers that read back to the very doubles that were written.

#include <boost/json/value.hpp>
#include <string>

namespace tidemark::estimators {

/// Reads one file. Throws std::runtime_error, naming the file, when it is missing or no JSON.
/// Boost.JSON 1.81 by itself reads about one decimal number in a hundred a bit off; here
/// std::from_chars does.
boost::json::value ReadJsonFile(const std::string& path);

}  // namespace tidemark::estimators
