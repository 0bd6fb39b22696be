#include "kubernetes/client_certificates.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "kubernetes/x509.h"

namespace tidemark::kubernetes {
namespace {

using Kind = CertificateFault::Kind;

/// More connections than a server serves; a chain has a few KB at most.
constexpr size_t kMostRemembered = 4096;
/// So many certificates are looked at on the way to the CA.
constexpr size_t kLongestChain = 8;
/// 112 bits, as for the served certificate (RSA with 2048 bits, SHA-224).
constexpr int kSecurityLevel = 2;
/// A refused chain is judged anew after that: a clock may be set right, a certificate become valid.
constexpr int64_t kRefusedForSeconds = 1;

struct FreeContext {
  void operator()(X509_STORE_CTX* context) const { X509_STORE_CTX_free(context); }
};
struct FreeStack {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, X509_free); }
};
using Stack = std::unique_ptr<STACK_OF(X509), FreeStack>;

int64_t SecondsOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return timegm(&parts);
}

std::string DateOf(const ASN1_TIME* time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(SecondsOf(time))));
}

/// All values of that field of the name, in order.
std::vector<std::string> Values(const X509_NAME* name, int nid) {
  std::vector<std::string> values;
  for (int i = X509_NAME_get_index_by_NID(name, nid, -1); i >= 0;
       i = X509_NAME_get_index_by_NID(name, nid, i)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i)));
    if (size < 0) continue;
    values.emplace_back(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
    OPENSSL_free(text);
  }
  return values;
}

std::shared_ptr<const CertificateSubject> SubjectOf(const X509* certificate) {
  const X509_NAME* const name = X509_get_subject_name(certificate);
  auto subject = std::make_shared<CertificateSubject>();
  std::vector<std::string> names = Values(name, NID_commonName);
  if (!names.empty()) subject->common_name = std::move(names.back());
  subject->organisations = Values(name, NID_organizationName);
  return subject;
}

CertificateFault FaultOf(const X509_STORE_CTX* context) {
  const int error = X509_STORE_CTX_get_error(context);
  const X509* const at = X509_STORE_CTX_get_current_cert(context);
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return {Kind::kExpired,
              "expired on " + (at == nullptr ? "?" : DateOf(X509_get0_notAfter(at)))};
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {Kind::kNotYetValid,
              "is not valid before " + (at == nullptr ? "?" : DateOf(X509_get0_notBefore(at)))};
    case X509_V_ERR_INVALID_PURPOSE:
      return {Kind::kNotForClients, "is not for client authentication (extended key usage)"};
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return {Kind::kUnknownAuthority, "is of no authority that is known here"};
    default:
      return {Kind::kBad, fmt::format("cannot be taken: {}", X509_verify_cert_error_string(error))};
  }
}

bool SameSubject(const X509* a, const X509* b) {
  return X509_NAME_cmp(X509_get_subject_name(a), X509_get_subject_name(b)) == 0;
}

/// The seconds in which all certificates of a way are valid, the last one excluded.
struct Window {
  int64_t from_s = std::numeric_limits<int64_t>::min();
  int64_t until_s = std::numeric_limits<int64_t>::max();
};

/// A way from the leaf to a certificate of the store that is good at that time. Another may be
/// found once its window is over.
tl::expected<Window, CertificateFault> FindWay(X509_STORE* store, X509* leaf,
                                               STACK_OF(X509) * others, int64_t now_s) {
  const std::unique_ptr<X509_STORE_CTX, FreeContext> context(X509_STORE_CTX_new());
  if (!context || X509_STORE_CTX_init(context.get(), store, leaf, others) != 1) {
    ERR_clear_error();
    return tl::unexpected(CertificateFault{Kind::kBad, "cannot be judged: no memory"});
  }
  X509_VERIFY_PARAM* const how = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_purpose(how, X509_PURPOSE_SSL_CLIENT);
  X509_VERIFY_PARAM_set_depth(how, static_cast<int>(kLongestChain));
  X509_VERIFY_PARAM_set_auth_level(how, kSecurityLevel);
  X509_VERIFY_PARAM_set_time(how, static_cast<std::time_t>(now_s));
  const bool good = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (!good) return tl::unexpected(FaultOf(context.get()));
  Window window;
  const STACK_OF(X509)* const way = X509_STORE_CTX_get0_chain(context.get());
  for (int i = 0; i < sk_X509_num(way); ++i) {
    const X509* const step = sk_X509_value(way, i);
    window.from_s = std::max(window.from_s, SecondsOf(X509_get0_notBefore(step)));
    window.until_s = std::min(window.until_s, SecondsOf(X509_get0_notAfter(step)));
  }
  return window;
}

}  // namespace

Result<std::unique_ptr<ClientCertificates>> ClientCertificates::Make(const std::string& ca_pem,
                                                                     std::string_view name) {
  const auto certificates = ReadCertificates(ca_pem, name);
  if (!certificates) return tl::unexpected(certificates.error());
  std::vector<std::shared_ptr<X509_STORE>> stores;
  const auto add = [&stores](std::span<const Certificate> trusted) {
    stores.emplace_back(X509_STORE_new(), X509_STORE_free);
    X509_STORE* const store = stores.back().get();
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    return std::ranges::all_of(trusted, [store](const Certificate& certificate) {
      return X509_STORE_add_cert(store, certificate.get()) == 1;
    });
  };
  bool kept = add(*certificates);
  for (const Certificate& one : *certificates) {
    const bool namesake = std::ranges::any_of(*certificates, [&](const Certificate& other) {
      return &other != &one && SameSubject(other.get(), one.get());
    });
    if (namesake) kept = add({&one, 1}) && kept;
  }
  if (!kept) {
    ERR_clear_error();
    return Fail(ErrorCode::kInternal, std::string(name) + ": a certificate cannot be kept");
  }
  return std::unique_ptr<ClientCertificates>(new ClientCertificates(std::move(stores)));
}

ClientCertificates::Verdict ClientCertificates::Verify(const PeerCertificates& chain,
                                                       int64_t now_s) const {
  const auto refused = [now_s](CertificateFault fault) -> Verdict {
    return {tl::unexpected(std::move(fault)), now_s, now_s + kRefusedForSeconds};
  };
  const Certificate leaf = chain.empty() ? nullptr : ReadDer(chain.front());
  if (!leaf) return refused({Kind::kBad, "cannot be read"});
  const Stack others(sk_X509_new_null());
  for (size_t i = 1; i < std::min(chain.size(), kLongestChain); ++i) {
    // What cannot be read leads nowhere; the way may not need it.
    if (Certificate other = ReadDer(chain[i]); other && sk_X509_push(others.get(), other.get())) {
      static_cast<void>(other.release());
    }
  }
  std::optional<CertificateFault> fault;
  for (const std::shared_ptr<X509_STORE>& store : stores_) {
    auto window = FindWay(store.get(), leaf.get(), others.get(), now_s);
    if (window) return {SubjectOf(leaf.get()), window->from_s, window->until_s};
    // That it is unknown is the least that can be said.
    if (!fault || fault->kind == Kind::kUnknownAuthority) fault = std::move(window.error());
  }
  return refused(*std::move(fault));
}

std::shared_ptr<const ClientCertificates::Verdict> ClientCertificates::Remembered(
    const std::shared_ptr<const PeerCertificates>& chain, int64_t now_s) const {
  const std::lock_guard lock(mutex_);
  const auto found = cache_.find(chain.get());
  if (found == cache_.end()) return nullptr;
  // An address can be taken again, by the chain of another connection.
  const Entry& entry = found->second;
  if (entry.chain.owner_before(chain) || chain.owner_before(entry.chain)) return nullptr;
  const Verdict& verdict = *entry.verdict;
  return now_s >= verdict.from_s && now_s < verdict.until_s ? entry.verdict : nullptr;
}

void ClientCertificates::Remember(const std::shared_ptr<const PeerCertificates>& chain,
                                  std::shared_ptr<const Verdict> verdict) const {
  const std::lock_guard lock(mutex_);
  if (cache_.size() >= kMostRemembered && !cache_.contains(chain.get())) {
    std::erase_if(cache_, [](const auto& item) { return item.second.chain.expired(); });
    if (cache_.size() >= kMostRemembered) cache_.clear();
  }
  cache_.insert_or_assign(chain.get(), Entry{chain, std::move(verdict)});
}

tl::expected<std::shared_ptr<const CertificateSubject>, CertificateFault> ClientCertificates::Judge(
    const std::shared_ptr<const PeerCertificates>& chain, TimePoint now) const {
  const int64_t now_s = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  if (const auto verdict = Remembered(chain, now_s)) return verdict->found;
  // Two requests at a time may both verify: the lock is not held for as long as that takes.
  const auto verdict = std::make_shared<const Verdict>(Verify(*chain, now_s));
  Remember(chain, verdict);
  return verdict->found;
}

}  // namespace tidemark::kubernetes
