#pragma once
// The keys of a profile, and of its section for a resource: how each is read and written out. One
// table, so that what is read, dumped and explained is the same.
//
// Free functions without state, thread-safe.

#include <span>
#include <string>
#include <string_view>

#include "cmd/config_fields.h"
#include "model/profile.h"
#include "model/resource.h"

namespace tidemark::cmd {

/// A key beside the sections of the resources: `preset`, `level` …
struct ProfileKey {
  std::string_view name;
  FieldReader (*read)(Profile& out);
  std::string (*write)(const Profile& profile);
};
/// In the order in which they are written out.
std::span<const ProfileKey> ProfileKeys();

/// A key of a resource's section.
struct RuleKey {
  std::string_view section;  ///< `high_water`, `adaptive`, `buckets` or `kills`; empty: none
  std::string_view name;
  /// A strict profile may set it, since the VPA recommender has a flag for it.
  bool vpa_has_it;
  FieldReader (*read)(ResourceRule& out, Resource resource);
  std::string (*write)(const ResourceRule& rule, Resource resource);
};
/// In the order in which they are written out; keys of one section stand together.
std::span<const RuleKey> RuleKeys();
/// Not every resource has every key: kills are of memory.
bool HasKey(Resource resource, const RuleKey& key);
/// `cpu.buckets.first`
std::string PathOf(Resource resource, const RuleKey& key);

/// How amounts of the resource are written.
QuantityStyle StyleOf(Resource resource);

}  // namespace tidemark::cmd
