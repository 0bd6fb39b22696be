#pragma once
// The recorded remote-write bodies of tests/data/payloads/rw1, or of the folder that
// TIDEMARK_PAYLOADS names, in the order in which they came.

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "model/http.h"
#include "tests/catch.h"

namespace tidemark::testing {

struct RecordedBody {
  std::string replica;
  std::string bytes;
  int64_t arrived_ms;
  uint64_t samples;

  HttpRequest Request() const {
    HttpRequest request;
    request.method = "POST";
    request.path = "/api/v1/write";
    request.headers = {{"Content-Type", "application/x-protobuf"}, {"Content-Encoding", "snappy"}};
    request.body = bytes;
    return request;
  }
};

inline std::vector<RecordedBody> RecordedBodies() {
  const char* other = std::getenv("TIDEMARK_PAYLOADS");  // NOLINT(concurrency-mt-unsafe)
  const std::string folder =
      (other != nullptr ? std::string(other) : TIDEMARK_TEST_DATA "/payloads") + "/rw1/";
  const auto read = [](const std::string& path) -> std::string {
    std::ifstream file(path, std::ios::binary);
    INFO(path);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
  };
  std::vector<RecordedBody> bodies;
  const auto index = boost::json::parse(read(folder + "index.json"));
  for (const auto& body : index.at("bodies").as_array()) {
    bodies.push_back({std::string(body.at("replica").as_string()),
                      read(folder + std::string(body.at("file").as_string())),
                      body.at("arrived_ms").to_number<int64_t>(),
                      body.at("samples").to_number<uint64_t>()});
  }
  std::stable_sort(bodies.begin(), bodies.end(),
                   [](const auto& a, const auto& b) { return a.arrived_ms < b.arrived_ms; });
  return bodies;
}

}  // namespace tidemark::testing
