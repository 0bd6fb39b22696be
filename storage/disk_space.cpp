#include "storage/disk_space.h"

#include <sys/statvfs.h>

#include <utility>

namespace tidemark::storage {
namespace {

constexpr std::chrono::milliseconds kLookEvery{200};

}  // namespace

DiskSpace::DiskSpace(std::string directory, uint64_t min_free_bytes, StorageCounters& counters)
    : directory_(std::move(directory)), min_free_bytes_(min_free_bytes), counters_(counters) {}

int64_t DiskSpace::Look() {
  struct statvfs status {};
  const bool known = statvfs(directory_.c_str(), &status) == 0;
  free_bytes_ = known ? static_cast<int64_t>(status.f_bavail * status.f_frsize) : -1;
  looked_at_ = std::chrono::steady_clock::now();
  admitted_since_ = 0;
  counters_.disk_free_bytes_now.store(free_bytes_, std::memory_order_relaxed);
  return free_bytes_;
}

Result<void> DiskSpace::Admit(uint64_t bytes) {
  const uint64_t wanted = min_free_bytes_ + bytes;
  const auto lacks = [&] {
    return free_bytes_ >= 0 && static_cast<uint64_t>(free_bytes_) < wanted + admitted_since_;
  };
  // What was remembered may say no only if it was just looked up: others write to the disk too.
  if (std::chrono::steady_clock::now() - looked_at_ >= kLookEvery || lacks()) Look();
  if (min_free_bytes_ > 0 && lacks()) {
    return Fail(ErrorCode::kUnavailable,
                directory_ + ": no room: " + std::to_string(free_bytes_) +
                    " bytes are free and at least " + std::to_string(min_free_bytes_) +
                    " have to stay so: free some, or make the disk larger");
  }
  admitted_since_ += bytes;
  return {};
}

}  // namespace tidemark::storage
