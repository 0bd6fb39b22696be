#include "model/snapshot_lookup.h"

#include <initializer_list>
#include <utility>

#include "tests/catch.h"

using namespace tidemark;

namespace {

std::shared_ptr<NamespaceBlock> Block(const std::string& cluster, const std::string& name) {
  auto block = std::make_shared<NamespaceBlock>();
  block->cluster = cluster;
  block->name_space = name;
  return block;
}

}  // namespace

TEST_CASE("namespaces are found in their cluster", "[model][snapshot]") {
  Snapshot snapshot;
  CHECK(ServedCluster("", snapshot) == "");
  CHECK(BlocksOf(snapshot, "").empty());
  CHECK(FindNamespace(snapshot, "", "shop") == nullptr);

  snapshot.blocks = {Block("east", "pay"), Block("east", "shop")};
  CHECK(ServedCluster("", snapshot) == "east");
  CHECK(ServedCluster("west", snapshot) == "west");
  snapshot.blocks.push_back(Block("west", "shop"));
  CHECK_FALSE(ServedCluster("", snapshot));
  CHECK(BlocksOf(snapshot, "east").size() == 2);
  CHECK(BlocksOf(snapshot, "west").size() == 1);
  CHECK(BlocksOf(snapshot, "north").empty());
  CHECK(FindNamespace(snapshot, "east", "shop") == snapshot.blocks[1].get());
  CHECK(FindNamespace(snapshot, "west", "shop") == snapshot.blocks[2].get());
  CHECK(FindNamespace(snapshot, "west", "pay") == nullptr);
}

TEST_CASE("workloads are found by type and name", "[model][snapshot]") {
  const auto block = Block("", "shop");
  for (const auto& [type, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"cronjob", "web"},
                                                                  {"deployment", "api"},
                                                                  {"deployment", "web"},
                                                                  {"statefulset", "db"}}) {
    block->workloads.emplace_back().id = {"", "shop", type, name};
  }
  CHECK(FindWorkload(block.get(), "deployment", "web") == &block->workloads[2]);
  CHECK(FindWorkload(block.get(), "cronjob", "web") == &block->workloads[0]);
  CHECK(FindWorkload(block.get(), "statefulset", "web") == nullptr);
  CHECK(FindWorkload(block.get(), "", "") == nullptr);
  CHECK(FindWorkload(nullptr, "deployment", "web") == nullptr);
}
