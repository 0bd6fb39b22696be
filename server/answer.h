#pragma once
// An answer's status line and headers, as bytes.

#include <string>
#include <string_view>

#include "model/clock.h"
#include "model/http.h"

namespace tidemark::server {

/// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7), in no locale.
std::string FormatHttpDate(TimePoint time);

/// The reason phrase of a status; empty for statuses that Tidemark does not give.
std::string_view ReasonPhrase(unsigned status);

/// Whether an answer of that status carries content at all (RFC 9110 section 6.4.1).
bool StatusHasBody(unsigned status);

/// Status line, the handler's headers, then Date, Server, Content-Length (the length of
/// `response.body`, also when it is left out for HEAD; none for statuses without content) and
/// Connection, and the empty line. Headers of those names given by the handler, and names that are
/// no token, are left out; control characters in values become blanks, so that nothing a handler
/// echoes can add a header.
std::string FormatAnswerHead(const HttpResponse& response, bool keep_alive, TimePoint now);

}  // namespace tidemark::server
