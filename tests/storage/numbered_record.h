#pragma once
// Records whose content tells their number, of sizes from a few bytes to more than a block of the
// write-ahead log.

#include <cstdint>
#include <string>

namespace tidemark::storage {

inline std::string NumberedRecord(uint64_t number) {
  std::string record = "record " + std::to_string(number) + " ";
  record.append(number % 11 == 0 ? 50'000 : number * 97 % 2000,
                static_cast<char>('a' + number % 26));
  return record;
}

}  // namespace tidemark::storage
