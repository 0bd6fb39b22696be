#include <algorithm>

#include "tests/remote_write/random_fields.h"

namespace tidemark::remote_write::test {

/// An index into the table, now and then one outside of it.
uint64_t RandomRequest::Reference(size_t symbols) {
  if (!OneIn(80)) return Below(symbols);
  return OneIn(2) ? symbols + Below(3) : random_();
}

/// Packed, loose, or packed in pieces.
void RandomRequest::AddReferences(Fields& fields, const std::vector<uint64_t>& references) {
  std::string packed;
  for (const uint64_t reference : references) {
    if (OneIn(12)) {
      fields.AddBytes(1, packed);
      packed.clear();
    }
    if (OneIn(12)) {
      if (!packed.empty()) fields.AddBytes(1, packed);
      packed.clear();
      fields.Add(1, OddKey(1, 0) + OddVarint(reference, 10));
      continue;
    }
    packed += OddVarint(reference, 10);
  }
  if (!packed.empty() || OneIn(20)) fields.AddBytes(1, packed);
}

std::string RandomRequest::ExemplarMessageV2(size_t symbols) {
  Fields fields(*this);
  std::vector<uint64_t> references;
  for (uint64_t i = 2 * Below(3); i > 0; --i) references.push_back(Reference(symbols));
  if (OneIn(40)) references.push_back(0);
  AddReferences(fields, references);
  fields.AddDouble(2, Number());
  fields.AddVarint(3, random_());
  return fields.Join();
}

std::string RandomRequest::MetadataMessageV2(size_t symbols) {
  Fields fields(*this);
  fields.AddVarint(1, Below(20));
  if (!OneIn(5)) fields.AddVarint(3, Reference(symbols));
  if (!OneIn(5)) fields.AddVarint(4, Reference(symbols));
  return fields.Join();
}

/// The table begins with "", "__name__" and `names` label names; the rest are values.
std::string RandomRequest::SeriesMessageV2(size_t names, size_t symbols) {
  Fields fields(*this);
  std::vector<uint64_t> references;
  const auto value = [&] { return names + Below(symbols - names); };
  if (!OneIn(15)) references = {1, value()};
  // Most label sets name each label once and in order, so that most series are good ones.
  if (!OneIn(3)) {
    for (uint64_t name = 2; name < names; ++name) {
      if (OneIn(2)) references.insert(references.end(), {name, value()});
    }
    if (OneIn(4) && references.size() >= 4) {
      std::swap_ranges(references.begin(), references.begin() + 2, references.end() - 2);
    }
  } else {
    for (uint64_t i = Below(6); i > 0; --i) {
      references.insert(references.end(), {OneIn(3) ? Reference(symbols) : Below(names), value()});
    }
  }
  if (OneIn(100)) references.insert(references.end(), 240 + 2 * Below(10), 2);
  if (OneIn(60)) references.push_back(1);
  AddReferences(fields, references);

  const uint64_t samples = OneIn(40) ? 250 + Below(300) : Below(4);
  for (uint64_t i = 0; i < samples; ++i) {
    Fields sample(*this);
    const int64_t time = Time();
    sample.AddDouble(1, Number());
    sample.AddVarint(2, static_cast<uint64_t>(time));
    if (OneIn(2)) {
      sample.AddVarint(3, OneIn(5) ? random_() : static_cast<uint64_t>(time) - Below(50) + 10);
    }
    fields.AddBytes(2, sample.Join());
  }
  if (OneIn(6)) fields.AddBytes(3, HistogramMessage());
  if (OneIn(4)) fields.AddBytes(4, ExemplarMessageV2(symbols));
  if (OneIn(2)) fields.AddBytes(5, MetadataMessageV2(symbols));
  if (OneIn(40)) fields.AddBytes(5, MetadataMessageV2(symbols));
  if (OneIn(4)) fields.AddVarint(6, static_cast<uint64_t>(Time()));
  return fields.Join();
}

std::string RandomRequest::MessageV2() {
  Fields fields(*this);
  std::vector<std::string> symbols = {OneIn(20) ? "first" : "", "__name__"};
  for (char name = 'a'; name < 'j'; ++name) symbols.emplace_back(1 + Below(3), name);
  if (OneIn(10)) symbols.emplace_back(1020 + Below(8), 'z');
  const size_t names = symbols.size();
  for (uint64_t i = 5 + Below(20); i > 0; --i) symbols.push_back(Text(1));
  if (OneIn(4)) symbols.push_back(Text(2));
  for (uint64_t i = OneIn(10) ? 300 : 0; i > 0; --i) symbols.push_back("v" + std::to_string(i));
  for (const std::string& symbol : symbols) fields.AddBytes(4, symbol);
  for (uint64_t i = Below(9); i > 0; --i) {
    fields.AddBytes(5, SeriesMessageV2(names, symbols.size()));
  }
  return fields.Join();
}

}  // namespace tidemark::remote_write::test
