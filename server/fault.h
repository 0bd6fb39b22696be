#pragma once
// Why a request is refused before any handler sees it.

#include <string>

namespace tidemark::server {

struct Fault {
  unsigned status = 400;
  std::string text;  ///< for the sender: what was wrong and what is allowed
};

}  // namespace tidemark::server
