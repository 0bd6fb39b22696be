#include "server/body_receiver.h"

#include <algorithm>
#include <utility>

namespace tidemark::server {

void BodyReceiver::ExpectChunks(size_t max_bytes, size_t max_extra_bytes) {
  size_ = max_bytes;
  chunks_.emplace(max_bytes, max_extra_bytes);
}

BodyReceiver::State BodyReceiver::TakeFrom(ReadBuffer& buffer) {
  if (chunks_) return TakeChunks(buffer);
  const size_t here = std::min(size_ - body_.size(), buffer.size());
  if (!Grow(body_.size() + here)) return State::kNoRoom;
  body_.append(buffer.View().substr(0, here));
  buffer.Consume(here);
  return body_.size() == size_ ? State::kComplete : State::kIncomplete;
}

BodyReceiver::State BodyReceiver::TakeChunks(ReadBuffer& buffer) {
  if (!Grow(std::min(body_.size() + buffer.size(), size_))) return State::kNoRoom;
  const ChunkedBody::Step step = chunks_->Feed(buffer.View(), body_);
  buffer.Consume(step.consumed);
  switch (step.state) {
    case ChunkedBody::State::kComplete: return State::kComplete;
    case ChunkedBody::State::kTooLarge: return State::kTooLarge;
    case ChunkedBody::State::kMalformed: return State::kMalformed;
    case ChunkedBody::State::kIncomplete: break;
  }
  return State::kIncomplete;
}

ReadBuffer::Space BodyReceiver::Extend() {
  const size_t had = body_.size();
  const size_t step = std::min(size_ - had, kStep);
  if (!Grow(had + step)) return {};
  before_extend_ = had;
  body_.resize(had + step);
  return {body_.data() + had, step};
}

void BodyReceiver::Commit(size_t bytes) { body_.resize(before_extend_ + bytes); }

/// Room for `size` bytes, by doubling up to size_; false when there is no more. Not left to
/// std::string, which would double past size_: the largest body allowed must fit a budget of its
/// size.
bool BodyReceiver::Grow(size_t size) {
  if (size <= body_.capacity()) return true;
  const size_t capacity = std::min(std::max(size, 2 * body_.capacity()), size_);
  if (!budget_.TryTake(capacity - booked_bytes_)) return false;
  booked_bytes_ = capacity;
  std::string larger;
  larger.reserve(capacity);
  larger.append(body_);
  body_.swap(larger);
  return true;
}

void BodyReceiver::Release() {
  std::string().swap(body_);  // an assignment would keep the memory
  budget_.Give(std::exchange(booked_bytes_, 0));
}

}  // namespace tidemark::server
