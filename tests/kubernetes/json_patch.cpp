#include "tests/kubernetes/json_patch.h"

#include <stdexcept>
#include <vector>

namespace tidemark::kubernetes::testing {
namespace {

namespace json = boost::json;

[[noreturn]] void Wrong(const std::string& what) { throw std::runtime_error(what); }

std::vector<std::string> KeysOf(std::string_view pointer) {
  if (!pointer.starts_with('/')) Wrong("no pointer: " + std::string(pointer));
  std::vector<std::string> keys;
  for (size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      keys.emplace_back();
    } else if (pointer[i] == '~') {
      ++i;
      if (i == pointer.size() || (pointer[i] != '0' && pointer[i] != '1')) Wrong("bad escape");
      keys.back() += pointer[i] == '0' ? '~' : '/';
    } else {
      keys.back() += pointer[i];
    }
  }
  return keys;
}

void Add(json::value& document, std::string_view pointer, const json::value& value) {
  const std::vector<std::string> keys = KeysOf(pointer);
  json::value* parent = &document;
  for (size_t i = 0; i + 1 < keys.size(); ++i) {
    if (parent->is_array()) {
      parent = &parent->get_array().at(std::stoul(keys[i]));
    } else if (parent->is_object() && parent->get_object().contains(keys[i])) {
      parent = &parent->get_object().at(keys[i]);
    } else {
      Wrong("no parent for " + std::string(pointer));
    }
  }
  if (!parent->is_object()) Wrong("the parent of " + std::string(pointer) + " is no object");
  parent->get_object()[keys.back()] = value;
}

}  // namespace

void ApplyPatch(json::value& document, const json::value& patch) {
  for (const json::value& operation : patch.as_array()) {
    const json::object& parts = operation.as_object();
    if (parts.size() != 3 || parts.at("op") != "add") Wrong("an operation that is no add");
    Add(document, parts.at("path").as_string(), parts.at("value"));
  }
}

std::string FromBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) Wrong("Base64 of a wrong length");
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const size_t padding = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
    uint32_t group = 0;
    for (size_t j = 0; j < 4; ++j) {
      const size_t digit = j >= 4 - padding ? 0 : kDigits.find(text[i + j]);
      if (digit == std::string_view::npos) Wrong("no Base64");
      group = group << 6 | static_cast<uint32_t>(digit);
    }
    for (size_t j = 0; j < 3 - padding; ++j) {
      bytes += static_cast<char>(group >> (16 - 8 * j) & 0xFF);
    }
  }
  return bytes;
}

}  // namespace tidemark::kubernetes::testing
