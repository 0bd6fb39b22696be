#pragma once
// Recorded answers in place of a cluster.

#include <algorithm>
#include <boost/json/parse.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cmd/doctor/asker.h"
#include "cmd/doctor/finding.h"
#include "cmd/doctor/installation.h"
#include "tests/catch.h"
#include "tests/server/certificates.h"

namespace tidemark::doctor {

/// Answers by method and path; what is not told is 404, as the Kubernetes API says it.
class FakeAsker final : public Asker {
 public:
  Reply Ask(const client::Request& request) override {
    asked.push_back(request);
    if (handler) return handler(request);
    const auto found = answers.find(request.method + " " + request.path);
    if (found != answers.end()) return found->second;
    return {.status = 404, .trouble = request.path + ": 404: not found"};
  }
  void Answer(const std::string& path, std::string body, const std::string& method = "GET") {
    answers[method + " " + path] = {.status = 200, .body = std::move(body)};
  }
  void Refuse(const std::string& path, unsigned status, const std::string& method = "GET") {
    answers[method + " " + path] = {.status = status,
                                    .trouble = path + ": " + std::to_string(status) + ": refused"};
  }

  std::map<std::string, Reply> answers;
  std::function<Reply(const client::Request&)> handler;
  std::vector<client::Request> asked;
};

/// The verdict of a check; "absent" when it has not been told.
inline std::string VerdictOf(const Findings& findings, std::string_view check) {
  for (const Finding& finding : findings.all()) {
    if (finding.check == check) return std::string(ToString(finding.verdict));
  }
  return "absent";
}

inline std::string TextOf(const Findings& findings, std::string_view check) {
  std::string text;
  for (const Finding& finding : findings.all()) {
    if (finding.check == check) text += finding.meaning + " | " + finding.advice + "\n";
  }
  return text;
}

inline bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Of a made certificate.
inline Chain ChainOf(const server::MadeCertificate& certificate) {
  const auto chain = ReadPem(certificate.certificate());
  REQUIRE(chain);
  return *chain;
}

inline int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace tidemark::doctor
