#include "tests/remote_write/random_request.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "model/sample.h"
#include "tests/remote_write/random_fields.h"

namespace tidemark::remote_write::test {

std::string RandomRequest::OddVarint(uint64_t value, size_t max_size) {
  return OneIn(15) ? Varint(value, 1 + Below(max_size)) : Varint(value);
}

// libprotobuf reads keys and lengths of at most five bytes, this reader of ten: both agree on up to
// five.
std::string RandomRequest::OddKey(uint32_t number, uint32_t type) {
  return OddVarint(uint64_t{number} << 3 | type, 5);
}

std::string RandomRequest::OddBytes(uint32_t number, const std::string& content) {
  return OddKey(number, 2) + OddVarint(content.size(), 5) + content;
}

std::string RandomRequest::Unknown() {
  const auto number = static_cast<uint32_t>(18 + Below(3000));
  switch (Below(5)) {
    case 0: return OddKey(number, 0) + OddVarint(random_(), 10);
    case 1: return OddKey(number, 1) + std::string(8, '\xfe');
    case 2: return OddBytes(number, std::string(Below(40), '\xff'));
    case 3: return OddKey(number, 5) + std::string(4, '\xfd');
    default:
      return OddKey(number, 3) + (OneIn(2) ? Unknown() : std::string()) + VarintField(1, 7) +
             OddKey(number, 4);
  }
}

std::string RandomRequest::Text(size_t kind) {
  static const std::array<std::string, 8> kNames = {"pod",  "namespace", "container", "image",
                                                    "node", "id",        "le",        "Zone"};
  if (kind == 0) return kNames[Below(kNames.size())];
  static const std::array<std::string, 8> kBad = {
      "\xff",         "\xc3",  "\xed\xa0\x80", "\xf4\x90\x80\x80",
      "\xe0\x80\x80", "a\x80", "\xc0\xaf",     "\xf8"};
  if (kind == 2) return kBad[Below(kBad.size())];
  switch (Below(8)) {
    case 0: return "";
    case 1: return std::string(Below(300), 'v');
    case 2: return "\xc3\xbc\xe6\x97\xa5\xf0\x9f\x8c\x8a" + std::string(Below(3), '\0');
    case 3: return OneIn(30) ? std::string(4090 + Below(12), 'w') : "w";
    default: return "value-" + std::to_string(Below(1000));
  }
}

double RandomRequest::Number() {
  switch (Below(8)) {
    case 0: return 0;
    case 1: return StaleMarker();
    case 2: return std::numeric_limits<double>::infinity();
    case 3: return -0.0;
    case 4: return std::bit_cast<double>(uint64_t{random_()});
    default: return static_cast<double>(Below(1000000)) / 8;
  }
}

int64_t RandomRequest::Time() {
  if (!OneIn(6)) return now_ms_ - static_cast<int64_t>(Below(3'600'000));
  switch (Below(6)) {
    case 0: return now_ms_ + 599'990 + static_cast<int64_t>(Below(20));
    case 1: return 999'999'999'990 + static_cast<int64_t>(Below(20));
    case 2: return 0;
    case 3: return std::numeric_limits<int64_t>::min();
    case 4: return std::numeric_limits<int64_t>::max();
    default: return static_cast<int64_t>(random_());
  }
}

std::string RandomRequest::LabelMessage(bool may_be_bad) {
  Fields fields(*this);
  const bool bad = may_be_bad && OneIn(60);
  if (!may_be_bad || !OneIn(200)) fields.AddBytes(1, bad && OneIn(2) ? Text(2) : Text(0));
  fields.AddBytes(2, bad ? Text(2) : Text(1));
  if (OneIn(50)) fields.AddBytes(2, Text(1));
  return fields.Join();
}

std::string RandomRequest::SampleMessage() {
  Fields fields(*this);
  const double value = Number();
  if (std::bit_cast<uint64_t>(value) != 0) fields.AddDouble(1, value);
  const int64_t time = Time();
  if (time != 0) fields.AddVarint(2, static_cast<uint64_t>(time));
  return fields.Join();
}

std::string RandomRequest::ExemplarMessage() {
  Fields fields(*this);
  for (uint64_t i = Below(3); i > 0; --i) fields.AddBytes(1, LabelMessage(true));
  fields.AddDouble(2, Number());
  fields.AddVarint(3, random_());
  return fields.Join();
}

std::string RandomRequest::HistogramMessage() {
  Fields fields(*this);
  if (OneIn(2)) {
    fields.AddVarint(1, Below(5));
  } else {
    fields.AddDouble(2, 2);
  }
  fields.AddDouble(3, Number());
  fields.AddVarint(4, Below(20));
  for (const uint32_t spans : {8U, 11U}) {
    if (OneIn(2)) fields.AddBytes(spans, VarintField(1, Below(9)) + VarintField(2, 1));
    for (uint64_t i = Below(3); i > 0; --i) fields.AddVarint(spans + 1, Below(9));
    if (OneIn(2)) fields.AddBytes(spans + 1, OddVarint(Below(9), 10) + OddVarint(Below(9), 10));
    if (OneIn(3)) fields.AddDouble(spans + 2, 1);
    if (OneIn(3)) fields.AddBytes(spans + 2, DoubleField(1, 1).substr(1));
  }
  if (OneIn(3)) fields.AddBytes(16, DoubleField(1, 1).substr(1) + DoubleField(1, 2).substr(1));
  fields.AddVarint(15, static_cast<uint64_t>(now_ms_));
  return fields.Join();
}

std::string RandomRequest::MetadataMessage() {
  Fields fields(*this);
  fields.AddVarint(1, Below(20));
  for (const uint32_t number : {2U, 4U, 5U}) fields.AddBytes(number, Text(1));
  return fields.Join();
}

std::string RandomRequest::SeriesMessage() {
  Fields fields(*this);
  if (!OneIn(15)) {
    const std::string name = OneIn(20) ? "" : "metric_" + std::to_string(Below(20));
    fields.AddBytes(1, BytesField(1, "__name__") + BytesField(2, name));
  }
  // Most label sets are small and clean, so that most series are good ones.
  const bool clean = !OneIn(3);
  LabelList labels;
  for (uint64_t i = Below(9); i > 0; --i) {
    if (clean) {
      labels.emplace_back("label_" + std::to_string(i), "v" + std::to_string(Below(100)));
    } else {
      fields.AddBytes(1, LabelMessage(true));
    }
  }
  if (OneIn(2)) std::reverse(labels.begin(), labels.end());
  for (const auto& [name, value] : labels) {
    fields.AddBytes(1, BytesField(1, name) + BytesField(2, value));
  }
  if (OneIn(100)) {
    for (uint64_t i = 120 + Below(10); i > 0; --i) {
      fields.AddBytes(1, BytesField(1, "many_" + std::to_string(i)) + BytesField(2, "x"));
    }
  }
  const uint64_t samples = OneIn(40) ? 250 + Below(300) : Below(4);
  for (uint64_t i = 0; i < samples; ++i) fields.AddBytes(2, SampleMessage());
  if (OneIn(4)) fields.AddBytes(3, ExemplarMessage());
  if (OneIn(6)) fields.AddBytes(4, HistogramMessage());
  return fields.Join();
}

std::string RandomRequest::Message() {
  Fields fields(*this);
  for (uint64_t i = Below(9); i > 0; --i) fields.AddBytes(1, SeriesMessage());
  if (OneIn(4)) fields.AddBytes(3, MetadataMessage());
  return fields.Join();
}

std::string RandomRequest::Mutate(std::string bytes) {
  for (uint64_t i = 1 + Below(3); i > 0 && !bytes.empty(); --i) {
    const size_t at = Below(bytes.size());
    switch (Below(6)) {
      case 0: bytes.resize(at); break;
      case 1: bytes.erase(at, 1 + Below(4)); break;
      case 2: bytes.insert(at, 1 + Below(4), static_cast<char>(random_())); break;
      case 3: bytes[at] = static_cast<char>(random_()); break;
      default: bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
    }
  }
  return bytes;
}

}  // namespace tidemark::remote_write::test
