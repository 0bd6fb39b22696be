#include "cmd/doctor/asker.h"

namespace tidemark::doctor {
namespace {

class OverHttp final : public Asker {
 public:
  explicit OverHttp(std::unique_ptr<client::HttpClient> client) : client_(std::move(client)) {}

  Reply Ask(const client::Request& request) override {
    auto answer = client_->Fetch(request);
    if (!answer) {
      return {.status = answer.error().status, .trouble = std::move(answer.error().message)};
    }
    return {.status = answer->status, .body = std::move(answer->body)};
  }

 private:
  std::unique_ptr<client::HttpClient> client_;
};

}  // namespace

Result<std::unique_ptr<Asker>> HttpAsker(const client::HttpClientOptions& options) {
  auto client = client::HttpClient::Open(options);
  if (!client) return tl::unexpected(client.error());
  return std::make_unique<OverHttp>(*std::move(client));
}

}  // namespace tidemark::doctor
