#include "cmd/kubernetes_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cmd/listen_address.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kPrefix = "kubernetes.";
constexpr size_t kMostNames = 64;
/// Of a certificate's common name (RFC 5280, ub-common-name).
constexpr size_t kLongestName = 64;

Result<std::vector<std::string>> ReadNames(std::string_view text) {
  constexpr std::string_view kFlag = "kubernetes.requestheader-allowed-names";
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (name.empty() || name.size() > kLongestName || names.size() == kMostNames) {
      return WrongFlag(kFlag,
                       fmt::format("{} cannot be taken, allowed: at most {} common names of "
                                   "certificates, 1 to {} characters each, between commas",
                                   Shown(std::string(name), true), kMostNames, kLongestName));
    }
    names.emplace_back(name);
  }
  return names;
}

Result<void> Check(const KubernetesFlags& flags) {
  if (auto good = CheckListenAddress(flags.listen_address); !good) {
    return WrongFlag("kubernetes.listen-address", good.error().message);
  }
  for (const auto& [name, value] :
       {std::pair("kubernetes.tls-cert-file", &flags.tls_cert_file),
        std::pair("kubernetes.tls-private-key-file", &flags.tls_private_key_file)}) {
    if (value->empty()) {
      return WrongFlag(name,
                       "is missing, allowed with --kubernetes.listen-address: a file in PEM "
                       "(the Kubernetes port speaks HTTPS only)");
    }
  }
  if (!flags.requestheader_allowed_names.empty() && flags.requestheader_client_ca_file.empty()) {
    return WrongFlag("kubernetes.requestheader-allowed-names",
                     "says nothing without --kubernetes.requestheader-client-ca-file: give that "
                     "too, or neither, and both are read from the cluster");
  }
  return {};
}

}  // namespace

std::vector<FlagSpec> KubernetesFlagSpecs() {
  return {
      {"kubernetes.listen-address", R"("")",
       "Address to listen on for the Kubernetes API server: external metrics and the admission "
       "webhook, by HTTPS only. Empty: off."},
      {"kubernetes.tls-cert-file", R"("")",
       "Certificate of that port in PEM, the leaf first, then its chain. Read again when it "
       "changes."},
      {"kubernetes.tls-private-key-file", R"("")", "Its key in PEM. Read again when it changes."},
      {"kubernetes.requestheader-client-ca-file", R"("")",
       "CA whose certificates show the API server's front proxy, which says in headers who asks. "
       "Empty: in a cluster it is read, with the names, from the ConfigMap "
       "kube-system/extension-apiserver-authentication; elsewhere there is no front proxy."},
      {"kubernetes.requestheader-allowed-names", R"("")",
       "Common names that a front proxy's certificate may have, separated by commas. Empty: any."},
      {"kubernetes.client-ca-file", R"("")",
       "CA of clients that come without a front proxy (kubectl): user is the certificate's common "
       "name, groups are its organisations. Empty: none may."},
      {"kubernetes.cluster", R"("")",
       "Whose workloads that port serves, by the label cluster of the streams. Needed once they "
       "carry more than one."}};
}

Result<KubernetesFlags> ReadKubernetesFlags(
    const std::map<std::string, std::string, std::less<>>& given) {
  KubernetesFlags flags;
  std::string names;
  const std::map<std::string_view, std::string*> texts = {
      {"kubernetes.listen-address", &flags.listen_address},
      {"kubernetes.tls-cert-file", &flags.tls_cert_file},
      {"kubernetes.tls-private-key-file", &flags.tls_private_key_file},
      {"kubernetes.requestheader-client-ca-file", &flags.requestheader_client_ca_file},
      {"kubernetes.requestheader-allowed-names", &names},
      {"kubernetes.client-ca-file", &flags.client_ca_file},
      {"kubernetes.cluster", &flags.cluster}};
  std::string_view first;
  for (const auto& [name, value] : given) {
    if (!name.starts_with(kPrefix)) continue;
    *texts.at(name) = value;
    if (first.empty() && !value.empty()) first = name;
  }
  auto read = ReadNames(names);
  if (!read) return tl::unexpected(read.error());
  flags.requestheader_allowed_names = *std::move(read);
  if (flags.listen_address.empty()) {
    if (first.empty()) return flags;
    return WrongFlag(first, "says nothing without --kubernetes.listen-address: give that too");
  }
  if (auto good = Check(flags); !good) return tl::unexpected(good.error());
  return flags;
}

}  // namespace tidemark::cmd
