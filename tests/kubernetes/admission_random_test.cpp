// Reviews of all kinds, whole and damaged: each is answered as kube-apiserver wants it, and what
// comes of each patch is judged anew.

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/kubernetes/admission_check.h"
#include "tests/seed.h"

namespace tidemark::kubernetes {
namespace {

namespace json = boost::json;

json::value RandomValue(std::mt19937& random) {
  switch (random() % 12) {
    case 0: return nullptr;
    case 1: return true;
    case 2: return -1;
    case 3: return 0.25;
    case 4: return json::object();
    case 5: return json::array();
    case 6: return "";
    case 7: return "1";
    case 8: return json::array({json::object(), nullptr});
    case 9: return json::object({{"cpu", "1"}});
    case 10: return json::string(1 + random() % 300, 'x');
    default: return "\xC3\xA4~1/\n";
  }
}

/// Every value below `root`, itself included.
void Collect(json::value& root, std::vector<json::value*>& out) {
  out.push_back(&root);
  if (root.is_object()) {
    for (auto& pair : root.get_object()) Collect(pair.value(), out);
  } else if (root.is_array()) {
    for (json::value& item : root.get_array()) Collect(item, out);
  }
}

void MutateTree(json::value& root, std::mt19937& random) {
  std::vector<json::value*> all;
  Collect(root, all);
  json::value& chosen = *all[random() % all.size()];
  switch (random() % 3) {
    case 0: chosen = RandomValue(random); break;
    case 1:
      if (chosen.is_object() && !chosen.get_object().empty()) {
        json::object& object = chosen.get_object();
        const auto at = object.begin() + static_cast<ptrdiff_t>(random() % object.size());
        const std::string key(at->key());
        const json::value moved = at->value();  // the object may grow, and move what is in it
        if (random() % 2 == 0) object["other"] = moved;
        object.erase(key);
      }
      break;
    default:
      if (chosen.is_array() && !chosen.get_array().empty()) {
        json::array& list = chosen.get_array();
        const json::value copy = list[random() % list.size()];
        for (size_t i = 0; i <= random() % 3; ++i) list.push_back(copy);
      }
  }
}

void MutateBytes(std::string& body, std::mt19937& random) {
  for (size_t i = 0; i <= random() % 4 && !body.empty(); ++i) {
    const size_t at = random() % body.size();
    switch (random() % 4) {
      case 0: body[at] = static_cast<char>(random()); break;
      case 1: body.insert(at, 1, R"({}[]",:0\)"[random() % 9]); break;
      case 2: body.erase(at, 1 + random() % 8); break;
      default: body.resize(at);
    }
  }
}

TEST_CASE("Ten thousand reviews, random and damaged, are all answered well",
          "[kubernetes][admission][random]") {
  const uint32_t seed = ::tidemark::testing::Seed();
  std::mt19937 random(seed);
  size_t patched = 0;
  size_t patched_damaged = 0;
  constexpr size_t kCases = 10'000;
  for (size_t i = 0; i < kCases; ++i) {
    auto made = rightsizing::testing::MakeRandomCase(random);
    made.world.settings.mode = static_cast<RightsizingMode>(random() % 8 == 0 ? random() % 3 : 2);
    auto snapshot = made.world.Shown();
    const testing::Webhook webhook(snapshot, made.world.profiles, made.world.settings);
    json::value review =
        testing::ReviewJson(testing::PodJson(made.pod, static_cast<uint32_t>(random() % 27)),
                            "uid-" + std::to_string(i));
    const size_t damage = i % 3;
    if (damage == 1) {
      for (size_t times = 0; times <= random() % 3; ++times) MutateTree(review, random);
    }
    std::string body = json::serialize(review);
    if (damage == 2) MutateBytes(body, random);
    INFO("seed " << seed << ", case " << i << ": " << body);
    bool was_patched = false;
    REQUIRE_NOTHROW(was_patched =
                        testing::CheckAnswer(webhook, body, made.world.profile.may_change_qos));
    (damage == 0 ? patched : patched_damaged) += was_patched ? 1 : 0;
  }
  CHECK(patched > kCases / 10);
  CHECK(patched_damaged > kCases / 20);
}

}  // namespace
}  // namespace tidemark::kubernetes
