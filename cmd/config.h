#pragma once
// The configuration file → plain structs for the rooms. docs/configuration.md describes every key.
//
// Defaults are those of the structs, nowhere else: an empty file is Config{}. Everything is checked
// before anything is returned: a Config that comes out of here is good to use. Free functions
// without state, thread-safe.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backfill/options.h"
#include "engine/options.h"
#include "kubernetes/settings.h"
#include "model/prices.h"
#include "model/result.h"
#include "model/rightsizing.h"
#include "remote_write/ha_options.h"
#include "remote_write/limits.h"
#include "storage/options.h"
#include "workloads/sources.h"

namespace tidemark::cmd {

struct Config {
  /// Lines that come before the default table (workloads::SourceTable).
  std::vector<workloads::Source> sources;
  /// `eval_interval_ms`, `shards` and `queue_batches` are not the file's.
  engine::Options engine;
  /// The keys that the file itself has for `estimation` and for each profile (`mode`,
  /// `cpu.percentile`), sorted: for people who ask where a value comes from.
  std::vector<std::string> estimation_keys;
  std::vector<std::vector<std::string>> profile_keys;
  /// Requests are given back under the names of VPA's metrics, too.
  bool vpa_metrics = false;
  /// What reclaimable requests are told in money by.
  Prices prices;
  remote_write::Limits remote_write;
  /// Tokens of which a write must bring one; empty: no token is asked for. A path in the file is
  /// taken from the file's directory.
  std::string bearer_token_file;
  /// Memory of all request bodies under way and of what they unpack to; at least one request of the
  /// largest size fits.
  uint64_t max_inflight_bytes = 256ULL << 20;
  remote_write::HaOptions ha;
  /// `path`, `sync` and `read_only` are not the file's.
  storage::Options storage;
  kubernetes::Freshness freshness;
  RightsizingSettingsPtr rightsizing = std::make_shared<const RightsizingSettings>();
  /// `drop_labels` and `label_limits` follow from the others: BackfillOptionsOf.
  backfill::Options backfill;
};

/// Errors are kInvalidArgument, one line: `FILE:LINE: KEY: what was wrong, allowed: ...`.
/// `file_name` stands in them.
Result<Config> ParseConfig(std::string_view yaml, const std::string& file_name);

/// The same from a file of at most kMaxYamlBytes. A file that cannot be read is kIo.
Result<Config> LoadConfig(const std::string& path);

/// The whole configuration in force as YAML, every key written out, `<secret>` in place of secrets;
/// ParseConfig makes the same Config of it.
std::string DumpConfig(const Config& config);

/// Names of the top-level sections in which the two differ, secrets included.
std::vector<std::string> DifferingSections(const Config& a, const Config& b);

}  // namespace tidemark::cmd
