#pragma once
// The store's directory: whose it is, what format it has, who has it open.
//
// FORMAT is looked at before anything is opened or changed, and is the last thing written into a
// new store: a directory without it is empty, half-made (what came before FORMAT holds nothing
// yet, and is completed), or something else and is left alone.

#include <string>

#include "model/result.h"
#include "storage/files.h"
#include "storage/store.h"

namespace tidemark::storage {

struct Home {
  bool made = false;  ///< FORMAT is there: the journal exists too
  uint32_t format = kFormatVersion;
  Descriptor lock;  ///< held as long as it is open; none when only looking
  StoreIdentity identity{};
};

/// Looks, takes the lock and makes what is missing, but FORMAT. Errors as Store::Open.
Result<Home> EnterHome(const Options& options);
/// Whether a process has the store open for writing. For who only looks: it holds the lock itself
/// for a moment, for which EnterHome waits.
bool IsHeldByWriter(const std::string& directory);
/// Writes FORMAT, once the journal is there.
Result<void> CompleteHome(const std::string& directory);

}  // namespace tidemark::storage
