#pragma once
// Requests by schedule (an open loop), or each when the last is answered (a closed loop).

#include <openssl/ssl.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/kubernetes/questions.h"

namespace tidemark::bench {

struct LoadPlan {
  double per_second = 0;  ///< 0: a closed loop
  double seconds = 0;
  unsigned connections = 1;
  /// A connection for each request, opened for it and closed after: TCP, TLS and one request.
  bool always_new = false;
};

struct LoadResult {
  uint64_t requests = 0;
  uint64_t wrong_answers = 0;  ///< none at all, another status than 200, or not what it should say
  uint64_t reopened = 0;       ///< connections that had to be opened again
  std::map<unsigned, uint64_t> statuses;  ///< 0: no answer
  /// From the first request to the last answer; by schedule at least as long as planned.
  double seconds = 0;
  /// Sorted. By schedule: from when the request should have been sent, so that whoever makes the
  /// next ones wait is charged for all of them; else from when it was sent.
  std::vector<double> latencies_seconds;
  /// The 99th percentile in each sixth of the run, lowest first: how steady it was.
  std::vector<double> p99_of_sixths_seconds;
  std::string first_wrong;  ///< what was answered, shortened
};

/// The value that at most a share of 1 - `share` lies above; `sorted` holds one at least.
double Percentile(const std::vector<double>& sorted, double share);

/// Any connection that is free takes the next request that is due, as a pool of connections does.
/// Questions take turns. Returns when all requests are answered; a thread for each connection.
LoadResult RunLoad(const LoadPlan& plan, const std::vector<Question>& questions, SSL_CTX* context,
                   uint16_t port);

}  // namespace tidemark::bench
