#include "server/token_file.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <string_view>

#include "server/small_file.h"

namespace tidemark::server {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

tl::unexpected<Error> Wrong(const std::string& path, const std::string& what) {
  return Fail(ErrorCode::kInvalidArgument, path + ": " + what);
}

Result<std::vector<Sha256>> Parse(std::string_view rest, const std::string& path) {
  std::vector<Sha256> tokens;
  for (size_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = Trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#') continue;
    if (!std::ranges::all_of(line, [](char c) { return c > ' ' && c < '\x7f'; })) {
      return Wrong(path + ":" + std::to_string(number),
                   "this is not one token, allowed: printable ASCII without blanks");
    }
    if (tokens.size() == kMaxTokens) {
      return Wrong(path, "there are more than " + std::to_string(kMaxTokens) + " tokens");
    }
    tokens.push_back(HashToken(line));
  }
  if (tokens.empty()) {
    return Wrong(path, "there is no bearer token in it, allowed: one a line, # begins a comment");
  }
  return tokens;
}

}  // namespace

Sha256 HashToken(std::string_view token) { return HashParts({"bearer", token}); }

bool HasToken(const std::vector<Sha256>& tokens, std::string_view token) {
  const Sha256 hash = HashToken(token);
  bool found = false;
  for (const Sha256& known : tokens) found |= EqualInConstantTime(known, hash);
  return found;
}

Result<std::vector<Sha256>> ReadTokenFile(const std::string& path) {
  auto text = ReadSmallFile(path);
  if (!text) return tl::unexpected(text.error());
  auto tokens = Parse(*text, path);
  OPENSSL_cleanse(text->data(), text->size());
  return tokens;
}

}  // namespace tidemark::server
