#include "cmd/kubeconfig.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "cmd/base64.h"
#include "cmd/text.h"
#include "cmd/yaml_reader.h"

namespace tidemark::cmd {
namespace {

constexpr size_t kMaxEntries = 10'000;

/// Some of the file, and where its paths begin.
struct Place {
  YamlValue value;
  std::filesystem::path folder;
};

Result<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path, error)) {
    return Fail(ErrorCode::kIo,
                fmt::format("{}: it cannot be read, allowed: a kubeconfig file", Shown(path)));
  }
  std::string text;
  for (char c = 0; text.size() <= kMaxYamlBytes && file.get(c);) text.push_back(c);
  if (file.bad()) return Fail(ErrorCode::kIo, fmt::format("{}: it cannot be read", Shown(path)));
  return text;
}

/// Empty when it is absent.
Result<std::string> TextOf(const YamlValue& value, std::string_view key) {
  const std::optional<YamlValue> found = value.Find(key);
  if (!found || found->IsEmpty()) return std::string();
  return found->ReadText();
}

Result<bool> BoolOf(const YamlValue& value, std::string_view key) {
  const std::optional<YamlValue> found = value.Find(key);
  if (!found || found->IsEmpty()) return false;
  return found->ReadBool();
}

/// The entry of `list` with that name, and in it what stands under `key`.
Result<YamlValue> Named(const YamlValue& file, std::string_view list, std::string_view name,
                        std::string_view key) {
  const std::optional<YamlValue> entries = file.Find(list);
  if (!entries) return file.WrongKey(list, "it is missing");
  const auto items = entries->ReadList(kMaxEntries);
  if (!items) return tl::unexpected(items.error());
  std::vector<std::string> names;
  for (const YamlValue& item : *items) {
    const auto found = TextOf(item, "name");
    if (!found) return tl::unexpected(found.error());
    if (*found == name) {
      const std::optional<YamlValue> content = item.Find(key);
      if (!content) return item.WrongKey(key, "it is missing");
      return *content;
    }
    if (names.size() < 20) names.push_back(Shown(*found));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto wrong = entries->Wrong(fmt::format("there is no {} {}, allowed: {}", key, Shown(name),
                                                known.empty() ? "none is there" : Join(known)));
  return Fail(ErrorCode::kNotFound, wrong.value().message);
}

/// `KEY-data` in Base64 wins over the path `KEY`, as for kubectl.
Result<void> ReadPem(const Place& place, std::string_view key, std::string& text,
                     std::string& file) {
  const std::string data_key = std::string(key) + "-data";
  const auto data = TextOf(place.value, data_key);
  if (!data) return tl::unexpected(data.error());
  if (!data->empty()) {
    auto decoded = DecodeBase64(*data);
    if (!decoded || decoded->empty()) {
      return place.value.WrongKey(data_key, "it is not in Base64, allowed: PEM in Base64");
    }
    text = *std::move(decoded);
    return {};
  }
  const auto path = TextOf(place.value, key);
  if (!path) return tl::unexpected(path.error());
  if (path->empty()) return {};
  file = (place.folder / *path).string();
  if (const std::ifstream readable(file); readable) return {};
  return place.value.WrongKey(key, fmt::format("{} cannot be read", Shown(file)));
}

Result<void> ReadCluster(const Place& place, client::HttpClientOptions& out) {
  const YamlValue& cluster = place.value;
  const auto server = TextOf(cluster, "server");
  if (!server) return tl::unexpected(server.error());
  if (server->empty()) return cluster.WrongKey("server", "it is missing, allowed: a URL");
  out.url = *server;
  if (auto good = client::CheckUrl(out.url); !good) {
    return cluster.WrongKey("server", good.error().message);
  }
  const auto skip = BoolOf(cluster, "insecure-skip-tls-verify");
  if (!skip) return tl::unexpected(skip.error());
  out.tls_config.insecure_skip_verify = *skip;
  const auto name = TextOf(cluster, "tls-server-name");
  if (!name) return tl::unexpected(name.error());
  out.tls_config.server_name = *name;
  const auto proxy = TextOf(cluster, "proxy-url");
  if (!proxy) return tl::unexpected(proxy.error());
  out.proxy_url = *proxy;
  return ReadPem(place, "certificate-authority", out.tls_config.ca, out.tls_config.ca_file);
}

Result<void> ReadUser(const Place& place, client::HttpClientOptions& out) {
  const YamlValue& user = place.value;
  for (const std::string_view plugin : {"exec", "auth-provider"}) {
    const std::optional<YamlValue> found = user.Find(plugin);
    if (!found || found->IsEmpty()) continue;
    return user.WrongKey(plugin,
                         "credentials of a plug-in, which is a program that is not run here; give "
                         "--kubernetes.server and --kubernetes.token-file instead (kubectl create "
                         "token makes a token)");
  }
  client::TlsConfig& tls = out.tls_config;
  if (auto good = ReadPem(place, "client-certificate", tls.cert, tls.cert_file); !good) return good;
  if (auto good = ReadPem(place, "client-key", tls.key, tls.key_file); !good) return good;
  auto token = TextOf(user, "token");
  if (!token) return tl::unexpected(token.error());
  const auto token_file = TextOf(user, "tokenFile");
  if (!token_file) return tl::unexpected(token_file.error());
  // The file wins, as for kubectl: it is the one that is renewed.
  if (!token_file->empty()) {
    out.authorization.credentials_file = (place.folder / *token_file).string();
  } else {
    out.authorization.credentials = *std::move(token);
  }
  return {};
}

}  // namespace

Result<Kubeconfig> ReadKubeconfig(const std::string& path, std::string_view context) {
  const auto text = ReadFile(path);
  if (!text) return tl::unexpected(text.error());
  const auto file = ParseYaml(*text, path);
  if (!file) return tl::unexpected(file.error());
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  Kubeconfig out;
  out.context = context;
  if (out.context.empty()) {
    auto current = TextOf(*file, "current-context");
    if (!current) return tl::unexpected(current.error());
    if (current->empty()) {
      return file->WrongKey("current-context", "it is not set, allowed: a name, or --context");
    }
    out.context = *std::move(current);
  }
  const auto chosen = Named(*file, "contexts", out.context, "context");
  if (!chosen) return tl::unexpected(chosen.error());
  const auto cluster_name = TextOf(*chosen, "cluster");
  if (!cluster_name) return tl::unexpected(cluster_name.error());
  const auto user_name = TextOf(*chosen, "user");
  if (!user_name) return tl::unexpected(user_name.error());
  auto name_space = TextOf(*chosen, "namespace");
  if (!name_space) return tl::unexpected(name_space.error());
  out.name_space = *std::move(name_space);
  const auto cluster = Named(*file, "clusters", *cluster_name, "cluster");
  if (!cluster) return tl::unexpected(cluster.error());
  if (auto good = ReadCluster({*cluster, folder}, out.options); !good) {
    return tl::unexpected(good.error());
  }
  if (!user_name->empty()) {
    const auto user = Named(*file, "users", *user_name, "user");
    if (!user) return tl::unexpected(user.error());
    if (auto good = ReadUser({*user, folder}, out.options); !good) {
      return tl::unexpected(good.error());
    }
  }
  out.options.connect_timeout = std::chrono::seconds(5);
  out.options.timeout = std::chrono::seconds(30);
  if (auto good = client::CheckOptions(out.options); !good) {
    return Fail(good.error().code, fmt::format("{}: context {}: {}", Shown(path),
                                               Shown(out.context), good.error().message));
  }
  return out;
}

Result<std::string> DefaultKubeconfig(
    const std::function<std::string(const char* name)>& environment) {
  const std::string given = environment("KUBECONFIG");
  if (given.find(':') != std::string::npos) {
    return Fail(ErrorCode::kInvalidArgument,
                "KUBECONFIG names several files, allowed: one, or --kubeconfig");
  }
  if (!given.empty()) return given;
  const std::string home = environment("HOME");
  if (home.empty()) return std::string();
  std::string path = home + "/.kube/config";
  std::error_code error;
  return std::filesystem::exists(path, error) ? path : std::string();
}

}  // namespace tidemark::cmd
