#pragma once
// What the tests of authentication share.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/clock.h"
#include "model/http.h"
#include "tests/server/certificates.h"

namespace tidemark::kubernetes {

using server::Folder;
using server::MadeCertificate;

/// As the server hands over what a connection has shown.
inline std::shared_ptr<const PeerCertificates> Shown(
    const std::vector<const MadeCertificate*>& certificates) {
  auto shown = std::make_shared<PeerCertificates>();
  for (const MadeCertificate* one : certificates) shown->push_back(one->Der());
  return shown;
}

/// Certificates are made at the real time: tests count from it.
inline TimePoint Today() { return SystemClock().Now(); }
inline TimePoint InDays(double days) {
  return Today() + std::chrono::milliseconds(static_cast<int64_t>(days * 24 * 3600 * 1000));
}

}  // namespace tidemark::kubernetes
