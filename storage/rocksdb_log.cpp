#include "storage/rocksdb_log.h"

#include <cstdio>
#include <string>

#include "model/log.h"

namespace tidemark::storage {
namespace {

class RocksDbLog final : public rocksdb::Logger {
 public:
  RocksDbLog() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::InfoLogLevel::WARN_LEVEL, format, arguments);
  }
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level >= rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    char line[1024];
    std::vsnprintf(line, sizeof line, format, arguments);
    // What matters of it is said by the store itself, with what it means; this is for the search
    // for causes.
    LogOncePerMinute("rocksdb", LogLevel::kWarn, "RocksDB says", {{"text", line}});
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> MakeRocksDbLog() { return std::make_shared<RocksDbLog>(); }

}  // namespace tidemark::storage
