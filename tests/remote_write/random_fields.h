#pragma once
// The fields of one message in RandomRequest's odd manner of writing.

#include <algorithm>
#include <map>

#include "tests/remote_write/random_request.h"

namespace tidemark::remote_write::test {

class RandomRequest::Fields {
 public:
  explicit Fields(RandomRequest& owner) : owner_(owner) {}

  void Add(uint32_t number, std::string field) { fields_[number].push_back(std::move(field)); }
  void AddVarint(uint32_t number, uint64_t value) {
    if (owner_.OneIn(20)) AddOneVarint(number, owner_.random_());
    AddOneVarint(number, value);
  }
  void AddDouble(uint32_t number, double value) {
    if (owner_.OneIn(20)) AddOneDouble(number, 1e9);
    AddOneDouble(number, value);
  }
  void AddBytes(uint32_t number, const std::string& content) {
    Add(number, owner_.OddBytes(number, content));
  }

  std::string Join() {
    if (owner_.OneIn(8)) Add(100, owner_.Unknown());
    std::vector<std::pair<uint32_t, size_t>> order;
    for (const auto& [number, fields] : fields_) {
      for (size_t i = 0; i < fields.size(); ++i) order.emplace_back(number, i);
    }
    if (owner_.OneIn(3)) std::shuffle(order.begin(), order.end(), owner_.random_);
    std::map<uint32_t, size_t> next;
    std::string out;
    for (const auto& [number, ignored] : order) out += fields_[number][next[number]++];
    return out;
  }

 private:
  void AddOneVarint(uint32_t number, uint64_t value) {
    Add(number, owner_.OddKey(number, 0) + owner_.OddVarint(value, 10));
  }
  void AddOneDouble(uint32_t number, double value) {
    Add(number, owner_.OddKey(number, 1) + DoubleField(1, value).substr(1));
  }

  RandomRequest& owner_;
  std::map<uint32_t, std::vector<std::string>> fields_;
};

}  // namespace tidemark::remote_write::test
