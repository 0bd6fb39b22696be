#pragma once
// What is checked: who can be asked, and what was said about it.

#include <cstdint>
#include <optional>
#include <string>

#include "cmd/doctor/asker.h"
#include "cmd/doctor/certificates.h"
#include "model/result.h"

namespace tidemark::doctor {

/// The Service in front of Tidemark's Kubernetes port.
struct ServiceName {
  std::string name_space = "tidemark";
  std::string name = "tidemark";
  int32_t port = 443;

  /// "tidemark.tidemark.svc": what the API server wants the certificate to be for.
  std::string DnsName() const { return name + "." + name_space + ".svc"; }
  std::string Text() const { return name_space + "/" + name; }
  friend bool operator==(const ServiceName&, const ServiceName&) = default;
};

/// Whom to ask is null where it was not given; checks that need it are skipped then.
struct Installation {
  Asker* tidemark = nullptr;    ///< the web port
  Asker* kubernetes = nullptr;  ///< the Kubernetes API
  Asker* prometheus = nullptr;  ///< that scrapes Tidemark
  std::string why_no_kubernetes = "no access to the Kubernetes API was given";
  ServiceName service;
  /// What the Kubernetes port shows; absent when its URL was not given.
  std::optional<Result<Chain>> served;
  /// Authorities that callers are to verify it by; empty: not given.
  Chain authorities;
  int64_t now_ms = 0;
  std::string version;  ///< of this program
};

}  // namespace tidemark::doctor
