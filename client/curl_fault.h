#pragma once
// libcurl's codes → faults in words. For this room's .cpp files only.

#include <curl/curl.h>

#include <string>
#include <string_view>

#include "client/fault.h"
#include "client/options.h"

namespace tidemark::client {

/// `url`: what was asked for, without query. `detail`: libcurl's own words, may be empty.
Fault FaultOf(CURLcode code, std::string_view url, std::string_view detail, long os_error,
              const HttpClientOptions& options);

/// Of an answer that is not 2xx. `redirect`: where to, for 3xx.
Fault FaultOfStatus(unsigned status, std::string_view url, std::string_view body,
                    std::string_view redirect);

}  // namespace tidemark::client
