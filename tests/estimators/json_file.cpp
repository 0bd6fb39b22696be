#include "tests/estimators/json_file.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tidemark::estimators {

namespace json = boost::json;

namespace {

/// Builds a value out of the parser's events; Boost.JSON's own, but for on_double.
struct ExactHandler {
  static constexpr size_t max_object_size = static_cast<size_t>(-1);
  static constexpr size_t max_array_size = static_cast<size_t>(-1);
  static constexpr size_t max_key_size = static_cast<size_t>(-1);
  static constexpr size_t max_string_size = static_cast<size_t>(-1);

  json::value_stack values;
  std::string number;  // the text of the number under way

  ExactHandler() { values.reset(); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(size_t size, json::error_code&) {
    values.push_array(size);
    return true;
  }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_object_end(size_t size, json::error_code&) {
    values.push_object(size);
    return true;
  }
  bool on_string_part(json::string_view text, size_t, json::error_code&) {
    values.push_chars(text);
    return true;
  }
  bool on_string(json::string_view text, size_t, json::error_code&) {
    values.push_string(text);
    return true;
  }
  bool on_key_part(json::string_view text, size_t, json::error_code&) {
    values.push_chars(text);
    return true;
  }
  bool on_key(json::string_view text, size_t, json::error_code&) {
    values.push_key(text);
    return true;
  }
  bool on_number_part(json::string_view text, json::error_code&) {
    number.append(text.data(), text.size());
    return true;
  }
  bool on_int64(int64_t value, json::string_view, json::error_code&) {
    number.clear();
    values.push_int64(value);
    return true;
  }
  bool on_uint64(uint64_t value, json::string_view, json::error_code&) {
    number.clear();
    values.push_uint64(value);
    return true;
  }
  bool on_double(double, json::string_view text, json::error_code& error) {
    number.append(text.data(), text.size());
    double value = 0;
    const auto [end, trouble] =
        std::from_chars(number.data(), number.data() + number.size(), value);
    if (trouble != std::errc{} || end != number.data() + number.size()) {
      error = json::error::exponent_overflow;
      return false;
    }
    number.clear();
    values.push_double(value);
    return true;
  }
  bool on_bool(bool value, json::error_code&) {
    values.push_bool(value);
    return true;
  }
  bool on_null(json::error_code&) {
    values.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

}  // namespace

json::value ReadJsonFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  json::basic_parser<ExactHandler> parser{json::parse_options{}};
  json::error_code error;
  const size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (error) throw std::runtime_error(path + ": " + error.message());
  if (text.find_first_not_of(" \t\r\n", read) != std::string::npos) {
    throw std::runtime_error(path + ": text after the JSON value");
  }
  return parser.handler().values.release();
}

}  // namespace tidemark::estimators
