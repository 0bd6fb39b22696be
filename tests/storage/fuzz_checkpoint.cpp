// Any bytes as a record of the journal, as the parts of a checkpoint and as a checkpoint's file: no
// crash, no memory that is not there, and what is taken for good is what the writer would write.
//
// The first byte says what the rest is: 0 a record, 1 a header, 2 a trailer, else a file.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "model/log.h"
#include "storage/checkpoint_files.h"
#include "storage/checkpoint_reader.h"
#include "storage/frame.h"

namespace {

using namespace tidemark;           // NOLINT(google-build-using-namespace)
using namespace tidemark::storage;  // NOLINT(google-build-using-namespace)

void Require(bool condition) {
  if (!condition) std::abort();
}

void Record(std::string_view bytes) {
  uint64_t number = 1;
  for (const char c : bytes.substr(0, 4)) number = number << 8 | static_cast<unsigned char>(c);
  const std::string_view stored = bytes.substr(std::min<size_t>(4, bytes.size()));
  const auto frame = ReadFrame(number, stored);
  if (frame) {
    Require(frame->previous < number && frame->payload.size() + 9 <= stored.size());
    const std::string written =
        FrameHead(number, frame->previous, frame->payload) + std::string(frame->payload);
    const auto again = ReadFrame(number, written);
    Require(again && again->previous == frame->previous && again->payload == frame->payload);
  }
  // With a head that fits it, the same payload is good, and at no other place.
  const std::string good = FrameHead(number, number - 1, stored) + std::string(stored);
  const auto read = ReadFrame(number, good);
  Require(read && read->payload == stored && read->previous == number - 1);
  Require(!ReadFrame(number + 1, good));
}

void File(std::string_view bytes) {
  static const std::string path = [] {
    struct stat status {};
    const std::string root = stat("/dev/shm", &status) == 0 ? "/dev/shm" : "/tmp";
    return root + "/tidemark-fuzz-" + std::to_string(getpid()) + ".sst";
  }();
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  uint64_t blocks = 0;
  const auto info = ReadCheckpointFile(path, [&](std::string_view) {
    ++blocks;
    return Result<void>();
  });
  if (info) {
    Require(info->blocks == blocks);
  } else {
    Require(info.error().code == ErrorCode::kIo && info.error().message.starts_with(path));
  }
  unlink(path.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SetLogSink([](std::string_view) {});
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 0: Record(bytes); break;
    case 1:
      if (const auto header = CheckpointHeader::Decode(bytes)) {
        Require(CheckpointHeader::Decode(header->Encode())->number == header->number);
      }
      break;
    case 2:
      if (const auto trailer = CheckpointTrailer::Decode(bytes)) {
        Require(CheckpointTrailer::Decode(trailer->Encode())->blocks == trailer->blocks);
      }
      break;
    default: File(bytes); break;
  }
  return 0;
}
