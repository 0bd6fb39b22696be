#pragma once
// What a pod's owner wrote before anybody corrected it: the annotation
// tidemark.io/original-resources.
//
//   {"app":{"requests":{"cpu":"2","memory":"4Gi"},"limits":{"cpu":"4"}}}
//
// Whoever corrects a pod's requests puts it there. Limits are never corrected, so they are not
// read.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/byte_codec.h"
#include "model/resource_slots.h"

namespace tidemark::workloads {

/// The original requests of one container, each in its resource's unit, not negative.
struct OriginalRequest {
  std::string container;
  ResourceSlots<std::optional<double>> request;

  friend bool operator==(const OriginalRequest&, const OriginalRequest&) = default;
};
using OriginalRequests = std::vector<OriginalRequest>;

/// By container, sorted. nullopt when the text is no such annotation, one of its quantities of cpu,
/// memory, ephemeral-storage or nvidia.com/gpu is none or negative, or it is too long (16 KiB, 128
/// containers). Other resources are left out. Any bytes may be given.
std::optional<OriginalRequests> ParseOriginalRequests(std::string_view annotation);

void SaveOriginalRequests(const OriginalRequests& requests, ByteWriter& out);
/// nullopt, and the reader failed, when the bytes are none.
std::optional<OriginalRequests> RestoreOriginalRequests(ByteReader& in);

/// Of the container; null when the annotation does not name it.
const OriginalRequest* FindOriginalRequest(const OriginalRequests& requests,
                                           std::string_view container);

}  // namespace tidemark::workloads
