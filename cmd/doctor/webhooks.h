#pragma once
// The mutating webhooks that call Tidemark. For this library's .cpp files only.

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "cmd/doctor/installation.h"

namespace tidemark::doctor {

struct Webhooks {
  unsigned status = 0;
  std::string trouble{};  ///< empty: the list could be read
  std::vector<boost::json::value> ours{};
};
/// Those whose clientConfig names the Service.
Webhooks FindWebhooks(Asker& kubernetes, const ServiceName& service);

}  // namespace tidemark::doctor
