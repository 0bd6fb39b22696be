#pragma once
// One T for each resource, small for what most containers have: CPU and memory stand in the object
// itself, each other resource takes memory of its own once something is put there.
//
// A slot stays at its address as long as the object does. Not thread-safe. As large as two T and a
// pointer; a further resource takes one T and three words.

#include <concepts>
#include <memory>
#include <utility>

#include "model/resource.h"

namespace tidemark {

template <class T>
class ResourceSlots {
 public:
  ResourceSlots() = default;
  ~ResourceSlots() = default;
  ResourceSlots(ResourceSlots&&) noexcept = default;
  ResourceSlots& operator=(ResourceSlots&&) noexcept = default;
  ResourceSlots(const ResourceSlots& other) requires std::copyable<T> : cpu_(other.cpu_),
                                                                        memory_(other.memory_) {
    std::unique_ptr<Node>* end = &more_;
    for (const Node* node = other.more_.get(); node != nullptr; node = node->next.get()) {
      *end = std::make_unique<Node>(node->resource, node->value);
      end = &(*end)->next;
    }
  }
  ResourceSlots& operator=(const ResourceSlots& other) requires std::copyable<T> {
    if (this != &other) *this = ResourceSlots(other);
    return *this;
  }

  /// What is there; null where nothing was put. CPU and memory are always there.
  T* Find(Resource resource) { return const_cast<T*>(std::as_const(*this).Find(resource)); }
  const T* Find(Resource resource) const {
    if (resource == Resource::kCpu) return &cpu_;
    if (resource == Resource::kMemory) return &memory_;
    for (const Node* node = more_.get(); node != nullptr; node = node->next.get()) {
      if (node->resource == resource) return &node->value;
    }
    return nullptr;
  }
  /// What is there, or what T is by itself.
  const T& Get(Resource resource) const {
    static const T kNothing{};
    const T* const found = Find(resource);
    return found == nullptr ? kNothing : *found;
  }
  /// Makes it where it is not.
  T& At(Resource resource) {
    if (T* const found = Find(resource)) return *found;
    std::unique_ptr<Node>* place = &more_;
    while (*place != nullptr && (*place)->resource < resource) place = &(*place)->next;
    auto node = std::make_unique<Node>(resource, T{});
    node->next = std::move(*place);
    *place = std::move(node);
    return (*place)->value;
  }

  /// visit(Resource, T&) of all that are there, in order.
  template <class Visit>
  void ForEach(Visit visit) {
    visit(Resource::kCpu, cpu_);
    visit(Resource::kMemory, memory_);
    for (Node* node = more_.get(); node != nullptr; node = node->next.get()) {
      visit(node->resource, node->value);
    }
  }
  template <class Visit>
  void ForEach(Visit visit) const {
    visit(Resource::kCpu, cpu_);
    visit(Resource::kMemory, memory_);
    for (const Node* node = more_.get(); node != nullptr; node = node->next.get()) {
      visit(node->resource, node->value);
    }
  }

  /// What is not there is as T is by itself.
  friend bool operator==(const ResourceSlots& a, const ResourceSlots& b) {
    for (const Resource resource : kAllResources) {
      if (!(a.Get(resource) == b.Get(resource))) return false;
    }
    return true;
  }

 private:
  struct Node {
    Node(Resource of, T what) : resource(of), value(std::move(what)) {}
    Resource resource;
    T value;
    std::unique_ptr<Node> next;  // by resource
  };

  T cpu_{};
  T memory_{};
  std::unique_ptr<Node> more_;
};

}  // namespace tidemark
