#pragma once
// How a room says that something went wrong: as a value.
//
// Peer input, disk and configuration answer with a Result; programming errors are assertions;
// exceptions of third-party libraries are caught at the wall of the room that uses them.

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tidemark {

/// What kind of trouble it is; decides status and exit codes.
enum class ErrorCode : uint8_t {
  kInvalidArgument,  ///< the caller's input is wrong; the same input will fail again
  kNotFound,         ///< the named thing does not exist
  kUnavailable,      ///< passing trouble (overload, shutting down): the same call may succeed later
  kIo,               ///< a file, a socket or a directory refused
  kInternal,         ///< a fault of ours
};

/// An error with one line for people: names the thing, what was wrong with it and what is allowed.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand: `return Fail(ErrorCode::kNotFound, "…");`
inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace tidemark
