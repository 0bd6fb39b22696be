#pragma once
// A request's header block, parsed and judged.

#include <string_view>
#include <tl/expected.hpp>

#include "model/http.h"
#include "server/fault.h"

namespace tidemark::server {

struct RequestHead {
  HttpRequest request;           ///< all but body and peer
  bool chunked = false;          ///< the body comes in chunks; content_length is then absent
  bool keep_alive = true;        ///< what the client wishes, by version and Connection
  bool expect_continue = false;  ///< the client waits for 100 before it sends the body

  bool HasBody() const { return chunked || request.content_length.value_or(0) > 0; }
};

/// Parses a whole block, from the request line to the empty line, as HeadScanner finds it.
/// Stateless, thread-safe.
tl::expected<RequestHead, Fault> ParseRequestHead(std::string_view block);

}  // namespace tidemark::server
