#include "kubernetes/authentication_files.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "kubernetes/x509.h"
#include "model/log.h"

namespace tidemark::kubernetes {
namespace {

constexpr std::chrono::seconds kWatchInterval{1};
/// A bundle of several hundred certificates.
constexpr size_t kMostBytes = size_t{1} << 20;

/// The certificates of a file, in PEM; empty without a file.
Result<std::string> ReadPem(const std::string& flag, const std::string& path) {
  if (path.empty()) return std::string();
  const std::string name = flag + " " + path;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Fail(ErrorCode::kIo, name + ": " + (error ? error.message() : "it is no regular file"));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return Fail(ErrorCode::kIo, name + ": it cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMostBytes) {
    return Fail(ErrorCode::kIo,
                name + ": it is larger than " + std::to_string(kMostBytes) + " bytes");
  }
  if (auto certificates = ReadCertificates(text, name); !certificates) {
    return tl::unexpected(certificates.error());
  }
  return text;
}

}  // namespace

AuthenticationFiles::AuthenticationFiles(AuthenticationFileNames names, FrontProxy& authenticator,
                                         KubernetesCounters& counters)
    : names_(std::move(names)), authenticator_(authenticator), counters_(counters) {}

AuthenticationFiles::~AuthenticationFiles() { StopWatching(); }

Result<std::unique_ptr<AuthenticationFiles>> AuthenticationFiles::Open(
    AuthenticationFileNames names, FrontProxy& authenticator, KubernetesCounters& counters) {
  std::unique_ptr<AuthenticationFiles> files(
      new AuthenticationFiles(std::move(names), authenticator, counters));
  const std::lock_guard lock(files->loading_);
  auto read = files->Read();
  if (!read) return tl::unexpected(read.error());
  if (auto taken = files->Give(*read); !taken) return tl::unexpected(taken.error());
  files->given_ = *std::move(read);
  return files;
}

Result<AuthenticationFiles::Contents> AuthenticationFiles::Read() const {
  auto request_header_ca =
      ReadPem("--kubernetes.requestheader-client-ca-file", names_.request_header_ca);
  if (!request_header_ca) return tl::unexpected(request_header_ca.error());
  auto client_ca = ReadPem("--kubernetes.client-ca-file", names_.client_ca);
  if (!client_ca) return tl::unexpected(client_ca.error());
  return Contents{*std::move(request_header_ca), *std::move(client_ca)};
}

Result<void> AuthenticationFiles::Give(const Contents& contents) const {
  RequestHeaderConfig request_header;
  request_header.ca_pem = contents.request_header_ca;
  request_header.allowed_names = names_.allowed_names;
  if (names_.request_header_ca.empty()) return authenticator_.SetClientCa(contents.client_ca);
  if (names_.client_ca.empty()) return authenticator_.SetRequestHeader(request_header);
  return authenticator_.Set({std::move(request_header), contents.client_ca});
}

void AuthenticationFiles::CheckFiles() {
  const std::lock_guard lock(loading_);
  auto read = Read();
  if (read && problem_.empty() && *read == given_) return;
  Result<void> taken = read ? Give(*read) : tl::unexpected(read.error());
  if (!taken) {
    counters_.authentication_good_now = 0;
    if (problem_ == taken.error().message) return;
    problem_ = taken.error().message;
    Log(LogLevel::kError, "the CAs of the Kubernetes port are not good; those before stay in force",
        {{"err", problem_}});
    return;
  }
  given_ = *std::move(read);
  problem_.clear();
  counters_.authentication_good_now = 1;
  Log(LogLevel::kInfo, "the CAs of the Kubernetes port were read again");
}

void AuthenticationFiles::Watch() {
  if (watcher_.joinable()) return;
  watcher_ = std::thread([this] {
    std::unique_lock lock(watch_mutex_);
    while (!stop_.wait_for(lock, kWatchInterval, [this] { return stopping_; })) {
      lock.unlock();
      CheckFiles();
      lock.lock();
    }
  });
}

void AuthenticationFiles::StopWatching() {
  {
    const std::lock_guard lock(watch_mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

}  // namespace tidemark::kubernetes
