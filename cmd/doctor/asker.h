#pragma once
// Whoever is asked: Tidemark, its Kubernetes port, the Kubernetes API, a Prometheus. Behind an
// interface, so that checks are tested with recorded answers.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/http_client.h"
#include "client/options.h"
#include "model/result.h"

namespace tidemark::doctor {

struct Reply {
  unsigned status = 0;    ///< 0: no answer
  std::string body{};     ///< of a 2xx
  std::string trouble{};  ///< one line when it was no 2xx: what was asked, what came

  bool good() const { return status >= 200 && status < 300; }
};

class Asker {
 public:
  virtual ~Asker() = default;
  /// Blocks, within a timeout; never throws.
  virtual Reply Ask(const client::Request& request) = 0;

  Reply Get(std::string path, client::Parameters query = {}) {
    return Ask({.path = std::move(path), .query = std::move(query)});
  }
};

/// kInvalidArgument for options that cannot be.
Result<std::unique_ptr<Asker>> HttpAsker(const client::HttpClientOptions& options);

}  // namespace tidemark::doctor
