#pragma once
// A past as the journal carries it: the histories of some namespaces' containers, and the cursor
// that is committed with them.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/past.h"
#include "model/resource_table.h"
#include "model/result.h"
#include "workloads/past.h"

namespace tidemark::engine {

class Shard;

/// Immutable; shared by the shards that merge it.
class PastRecord {
 public:
  struct Namespace {
    uint64_t hash = 0;  ///< Addressing::HashNamespace
    std::string_view cluster;
    std::string_view name;
    std::vector<workloads::PastContainer> containers;
  };

  /// Appends the record. The namespaces must each stand once. `resources`: those in force.
  static void Encode(const std::vector<Namespace>& namespaces, std::string_view cursor,
                     const ResourceTable& resources, std::string& out);
  /// What is told of a resource that is not in force any more is left out. kInvalidArgument: these
  /// are no bytes of Encode.
  static Result<std::shared_ptr<const PastRecord>> Decode(std::string record,
                                                          const ResourceTable& resources);

  const std::vector<Namespace>& namespaces() const { return namespaces_; }
  std::string_view cursor() const { return cursor_; }
  const std::string& bytes() const { return bytes_; }

  /// Merges one of the namespaces into the shard it lives on, on the shard's thread. What the
  /// namespace holds already, by number, is left out. A container whose live usage reaches into its
  /// past is left out too, and makes the outcome `overtaken`.
  PastOutcome Merge(const Namespace& one, Shard& shard, uint64_t number) const;

 private:
  explicit PastRecord(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string bytes_;  // what follows points into it
  std::vector<Namespace> namespaces_;
  std::string_view cursor_;
};

void EncodePastCursor(std::string_view cursor, std::string& out);
Result<std::string_view> DecodePastCursor(std::string_view record);

}  // namespace tidemark::engine
