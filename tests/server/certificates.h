#pragma once
// Certificates made for one test: none in the tree can end to be valid.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct evp_pkey_st;
struct x509_st;

namespace tidemark::server {

/// A certificate and its key, and both as PEM.
class MadeCertificate {
 public:
  struct Wish {
    std::string name = "test";           ///< CN
    std::vector<std::string> sans = {};  ///< "DNS:a", "IP:1.2.3.4", "email:a@b", "URI:spiffe://c"
    const MadeCertificate* issuer = nullptr;  ///< null: signs itself
    bool ca = false;
    int valid_days = 2;
    int valid_from_days = -30;
    std::vector<std::string> organisations = {};
    std::string usage = {};  ///< extendedKeyUsage, such as "clientAuth"; empty: none
    /// Whose key it has; null: a new one.
    const MadeCertificate* key_of = nullptr;
  };
  explicit MadeCertificate(const Wish& wish);

  const std::string& certificate() const { return certificate_pem_; }
  const std::string& key() const { return key_pem_; }
  std::string Der() const;
  x509_st* x509() const { return x509_.get(); }
  evp_pkey_st* pkey() const { return pkey_.get(); }

 private:
  std::shared_ptr<evp_pkey_st> pkey_;
  std::shared_ptr<x509_st> x509_;
  std::string certificate_pem_;
  std::string key_pem_;
};

/// A folder that is gone after the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string Path(std::string_view name) const;
  /// Writes the file, whole or not at all (by renaming).
  std::string Write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

}  // namespace tidemark::server
