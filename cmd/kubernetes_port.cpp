#include "cmd/kubernetes_port.h"

#include <utility>

#include "client/in_cluster.h"
#include "cmd/build_info.h"
#include "kubernetes/authentication_config_map.h"
#include "kubernetes/authentication_files.h"
#include "kubernetes/front_proxy.h"
#include "kubernetes/routes.h"
#include "kubernetes/status.h"
#include "model/log.h"
#include "server/access.h"
#include "server/server.h"

namespace tidemark::cmd {
namespace {

/// What the aggregation layer sends along: a token's worth of groups and extras.
constexpr size_t kMostHeaderBytes = 64 << 10;

}  // namespace

class KubernetesPort::Impl {
 public:
  Impl(const KubernetesFlags& flags, Sources sources)
      : flags_(flags), sources_(std::move(sources)), authenticator_(sources_.clock, [this] {
          if (config_map_) config_map_->ReadSoon();
        }) {}

  Result<void> Start() {
    if (auto known = LearnWhoMayAsk(); !known) return known;
    auto access = server::Access::Open(
        server::CertificateFiles(flags_.tls_cert_file, flags_.tls_private_key_file), sources_.http,
        sources_.clock);
    if (!access) {
      return Fail(ErrorCode::kInvalidArgument,
                  "--kubernetes.tls-cert-file, --kubernetes.tls-private-key-file: " +
                      access.error().message);
    }
    access_ = std::move(*access);
    server::Options options;
    options.listen_address = flags_.listen_address;
    options.max_header_bytes = kMostHeaderBytes;
    options.own_answer = kubernetes::MakeStatus;
    auto server = server::Server::Start(
        options,
        kubernetes::Routes({.snapshots = sources_.snapshots,
                            .clock = sources_.clock,
                            .authenticator = authenticator_,
                            .counters = sources_.counters,
                            .settings = [this] { return Settings(); },
                            .rightsizing = [this] { return sources_.config.rightsizing(); },
                            .profiles = [this] { return sources_.config.profiles(); },
                            .ready = sources_.ready}),
        sources_.http, sources_.clock, access_);
    if (!server) return tl::unexpected(server.error());
    server_ = std::move(*server);
    access_->Watch();
    if (files_) files_->Watch();
    Log(LogLevel::kInfo, "serving the Kubernetes API", {{"address", server_->address()}});
    return {};
  }

  std::string address() const { return server_->address(); }

  bool Reload() {
    if (files_) files_->CheckFiles();
    if (config_map_) config_map_->ReadSoon();
    return access_->Reload() && sources_.counters.authentication_good_now.load() != 0;
  }

  void Stop() {
    if (access_) access_->StopWatching();
    if (files_) files_->StopWatching();
    if (server_) server_->Stop();
    // After the server: a request may still ask for a read.
    if (config_map_) config_map_->StopWatching();
  }

 private:
  kubernetes::Settings Settings() const {
    return {.cluster = flags_.cluster, .freshness = sources_.config.freshness()};
  }

  Result<void> LearnWhoMayAsk() {
    const bool asks_cluster = flags_.requestheader_client_ca_file.empty() && client::IsInCluster();
    if (!flags_.requestheader_client_ca_file.empty() || !flags_.client_ca_file.empty()) {
      auto files = kubernetes::AuthenticationFiles::Open(
          {.request_header_ca = flags_.requestheader_client_ca_file,
           .allowed_names = flags_.requestheader_allowed_names,
           .client_ca = flags_.client_ca_file},
          authenticator_, sources_.counters);
      if (!files) return Fail(ErrorCode::kInvalidArgument, files.error().message);
      files_ = std::move(*files);
    } else if (!asks_cluster) {
      return Fail(ErrorCode::kInvalidArgument,
                  "--kubernetes.listen-address: nobody could come in: outside a cluster give "
                  "--kubernetes.requestheader-client-ca-file for a front proxy, or "
                  "--kubernetes.client-ca-file for clients that come by themselves");
    }
    return asks_cluster ? AskCluster() : Result<void>();
  }

  Result<void> AskCluster() {
    auto api = client::InClusterOptions("tidemark/" + std::string(ThisBuild().version));
    if (!api) return tl::unexpected(api.error());
    kubernetes::ConfigMapOptions options;
    options.api = *std::move(api);
    auto config_map = kubernetes::AuthenticationConfigMap::Start(
        options,
        [this](const kubernetes::AuthenticationConfig& read) {
          return authenticator_.SetRequestHeader(read.request_header);
        },
        sources_.counters);
    if (!config_map) return tl::unexpected(config_map.error());
    config_map_ = std::move(*config_map);
    return {};
  }

  const KubernetesFlags flags_;
  const Sources sources_;
  kubernetes::FrontProxy authenticator_;
  std::unique_ptr<kubernetes::AuthenticationFiles> files_;
  std::unique_ptr<kubernetes::AuthenticationConfigMap> config_map_;
  std::shared_ptr<server::Access> access_;
  std::unique_ptr<server::Server> server_;
};

KubernetesPort::KubernetesPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KubernetesPort::~KubernetesPort() { Stop(); }

Result<std::unique_ptr<KubernetesPort>> KubernetesPort::Start(const KubernetesFlags& flags,
                                                              Sources sources) {
  auto impl = std::make_unique<Impl>(flags, std::move(sources));
  if (auto started = impl->Start(); !started) {
    impl->Stop();
    return tl::unexpected(started.error());
  }
  return std::unique_ptr<KubernetesPort>(new KubernetesPort(std::move(impl)));
}

std::string KubernetesPort::address() const { return impl_->address(); }
bool KubernetesPort::Reload() { return impl_->Reload(); }
void KubernetesPort::Stop() { impl_->Stop(); }

}  // namespace tidemark::cmd
