#include "cmd/demo_cluster/catalog.h"

#include <iterator>
#include <utility>

namespace tidemark::demo_cluster {
namespace {

using enum OwnerKind;
using enum Temper;

constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kDay = 86400;

/// The sidecar of the service mesh: its request is a default that nobody has looked at.
ContainerSpec Proxy() {
  return {"istio-proxy", "docker.io/istio/proxyv2:1.20.3", {0.1, 2, 0.02}, {128, 1024, 58}};
}

WorkloadSpec Service(std::string_view name_space, std::string_view name, OwnerKind kind,
                     int replicas, Temper temper, std::vector<ContainerSpec> containers) {
  return {.name_space = name_space,
          .name = name,
          .kind = kind,
          .replicas = replicas,
          .temper = temper,
          .containers = std::move(containers)};
}

std::vector<WorkloadSpec> KubeSystem() {
  return {
      Service(
          "kube-system", "coredns", kDeployment, 2, kDailyWave,
          {{"coredns", "registry.k8s.io/coredns/coredns:v1.11.1", {0.1, 0, 0.02}, {70, 170, 32}}}),
      Service("kube-system", "metrics-server", kDeployment, 1, kSteady,
              {{"metrics-server",
                "registry.k8s.io/metrics-server/metrics-server:v0.7.1",
                {0.1, 0, 0.01},
                {200, 0, 45}}}),
      Service("kube-system", "kube-proxy", kDaemonSet, 0, kSteady,
              {{"kube-proxy", "registry.k8s.io/kube-proxy:v1.29.4", {0, 0, 0.005}, {0, 0, 40}}}),
      Service("kube-system", "cni-agent", kDaemonSet, 0, kSteady,
              {{"agent", "quay.io/example/cni:v3.27.2", {0.25, 0, 0.04}, {0, 0, 180}}}),
      Service("kube-system", "kube-apiserver", kStaticPod, 1, kDailyWave,
              {{"kube-apiserver",
                "registry.k8s.io/kube-apiserver:v1.29.4",
                {0.25, 0, 0.3},
                {0, 0, 900}}}),
      Service("kube-system", "etcd", kStaticPod, 1, kSteady,
              {{"etcd", "registry.k8s.io/etcd:3.5.12-0", {0.1, 0, 0.12}, {100, 0, 320}}}),
      Service("kube-system", "kube-scheduler", kStaticPod, 1, kSteady,
              {{"kube-scheduler",
                "registry.k8s.io/kube-scheduler:v1.29.4",
                {0.1, 0, 0.02},
                {0, 0, 60}}}),
      Service("kube-system", "kube-controller-manager", kStaticPod, 1, kSteady,
              {{"kube-controller-manager",
                "registry.k8s.io/kube-controller-manager:v1.29.4",
                {0.2, 0, 0.06},
                {0, 0, 140}}}),
  };
}

std::vector<WorkloadSpec> Monitoring() {
  return {
      Service("monitoring", "node-exporter", kDaemonSet, 0, kSteady,
              {{"node-exporter",
                "quay.io/prometheus/node-exporter:v1.7.0",
                {0.1, 0.25, 0.012},
                {64, 128, 22}}}),
      Service(
          "monitoring", "log-collector", kDaemonSet, 0, kDailyWave,
          {{"collector", "docker.io/fluent/fluent-bit:2.2.2", {0.2, 0.5, 0.06}, {256, 512, 190}}}),
      Service("monitoring", "grafana", kDeployment, 1, kWeeklyWave,
              {{"grafana", "docker.io/grafana/grafana:10.4.2", {0.25, 1, 0.03}, {512, 1024, 160}}}),
      Service("monitoring", "alertmanager", kStatefulSet, 2, kSteady,
              {{"alertmanager",
                "quay.io/prometheus/alertmanager:v0.27.0",
                {0.1, 0, 0.01},
                {200, 0, 40}},
               {"config-reloader",
                "quay.io/example/config-reloader:v0.73.0",
                {0.01, 0.05, 0.001},
                {25, 50, 14}}}),
  };
}

std::vector<WorkloadSpec> Shop() {
  return {
      Service("shop", "frontend", kDeployment, 4, kDailyWave,
              {{"frontend",
                "registry.example.net/shop/frontend:5.2.0",
                {1, 2, 0.22},
                {1024, 2048, 310}},
               Proxy()}),
      {.name_space = "shop",
       .name = "checkout",
       .kind = kDeployment,
       .replicas = 2,
       .temper = kDailyWave,
       .containers = {{"checkout",
                       "registry.example.net/shop/checkout:1.8.3",
                       {0.5, 1, 0.28},
                       {512, 768, 360}},
                      Proxy()},
       .max_replicas = 6,
       .scale_period = kDay},
      Service("shop", "cart", kDeployment, 2, kSteady,
              {{"cart", "registry.example.net/shop/cart:2.1.7", {1, 1, 0.11}, {2048, 2048, 420}}}),
      {.name_space = "shop",
       .name = "catalog",
       .kind = kDeployment,
       .replicas = 2,
       .temper = kDailyWave,
       .containers =
           {{"app", "registry.example.net/shop/catalog:3.2.4", {0.3, 1, 0.18}, {512, 1024, 380}}},
       .rollover_period = 9 * kHour},
      {.name_space = "shop",
       .name = "search",
       .kind = kDeployment,
       .replicas = 2,
       .temper = kSteady,
       .containers =
           {{"search", "registry.example.net/shop/search:7.0.1", {0.4, 1, 0.25}, {768, 1024, 500}}},
       .max_replicas = 5,
       .scale_period = 20 * kMinute},
      {.name_space = "shop",
       .name = "recommendations",
       .kind = kDeployment,
       .replicas = 2,
       .temper = kLeaking,
       .containers = {{"app",
                       "registry.example.net/shop/recommendations:0.9.2",
                       {0.5, 1, 0.3},
                       {512, 1024, 380}}},
       .leak_period = 6 * kHour},
      Service(
          "shop", "pricing", kDeployment, 2, kDailyWave,
          {{"app", "registry.example.net/shop/pricing:2.4.8", {0.05, 0, 0.45}, {64, 512, 300}}}),
      Service(
          "shop", "email", kDeployment, 1, kBursty,
          {{"mailer", "registry.example.net/shop/email:1.1.0", {0.05, 0.5, 0.04}, {128, 256, 90}}}),
      Service("shop", "ads", kDeployment, 1, kDailyWave,
              {{"app", "registry.example.net/shop/ads:3.5.5", {1, 2, 0.12}, {1536, 2048, 340}}}),
  };
}

std::vector<WorkloadSpec> Pay() {
  return {
      {.name_space = "pay",
       .name = "payments",
       .kind = kRollout,
       .replicas = 2,
       .temper = kDailyWave,
       .containers = {{"payments",
                       "registry.example.net/pay/payments:4.4.1",
                       {0.5, 1, 0.16},
                       {768, 1024, 410}},
                      Proxy()},
       .rollover_period = 14 * kHour},
      Service(
          "pay", "fraud", kRollout, 2, kBursty,
          {{"scorer", "registry.example.net/pay/fraud:2.0.9", {1, 2, 0.35}, {2048, 3072, 1200}}}),
      Service(
          "pay", "ledger", kStatefulSet, 3, kSteady,
          {{"ledger", "registry.example.net/pay/ledger:1.3.0", {0.4, 1, 0.1}, {1024, 1024, 640}}}),
      {.name_space = "pay",
       .name = "gateway",
       .kind = kDeployment,
       .replicas = 2,
       .temper = kDailyWave,
       .containers =
           {{"gateway", "registry.example.net/pay/gateway:6.1.2", {0.3, 1, 0.2}, {256, 512, 140}}},
       .rollover_period = 4 * kHour},
      Service("pay", "tokenizer", kDeployment, 1, kWeeklyWave,
              {{"tokenizer",
                "registry.example.net/pay/tokenizer:1.0.4",
                {0.2, 0.2, 0.14},
                {256, 256, 120}}}),
  };
}

std::vector<WorkloadSpec> Data() {
  return {
      Service("data", "postgres", kStatefulSet, 2, kDailyWave,
              {{"postgres", "docker.io/library/postgres:16.2", {1, 4, 0.4}, {4096, 8192, 2600}},
               {"exporter",
                "quay.io/example/postgres-exporter:v0.15.0",
                {0.05, 0.1, 0.004},
                {32, 64, 18}}}),
      Service("data", "redis", kStatefulSet, 3, kSteady,
              {{"redis", "docker.io/library/redis:7.2.4", {0.2, 0.5, 0.07}, {1024, 1024, 560}}}),
      Service("data", "kafka", kAdvancedStatefulSet, 3, kDailyWave,
              {{"kafka", "docker.io/example/kafka:3.7.0", {0.5, 2, 0.3}, {3072, 3072, 1900}}}),
      {.name_space = "data",
       .name = "opensearch",
       .kind = kStatefulSet,
       .replicas = 3,
       .temper = kLeaking,
       .containers =
           {{"opensearch", "docker.io/example/opensearch:2.13.0", {1, 2, 0.5}, {2048, 2560, 1700}}},
       .leak_period = 16 * kHour},
      Service(
          "data", "clickhouse", kStatefulSet, 1, kBursty,
          {{"clickhouse", "docker.io/example/clickhouse:24.3", {1, 4, 0.6}, {4096, 6144, 2800}}}),
  };
}

WorkloadSpec Batch(OwnerKind kind, std::string_view name, double period_minutes, Amounts cpu,
                   Amounts memory_mib) {
  return {.name_space = "batch",
          .name = name,
          .kind = kind,
          .temper = kBatch,
          .containers = {{"main", "registry.example.net/batch/jobs:2024.4", cpu, memory_mib}},
          .run_period = period_minutes * kMinute};
}

std::vector<WorkloadSpec> BatchJobs() {
  return {
      Batch(kCronJob, "report", 4, {0.5, 1, 0.8}, {512, 1024, 420}),
      Batch(kCronJob, "invoice-export", 5, {0.2, 0, 0.35}, {256, 512, 180}),
      Batch(kCronJob, "index-refresh", 6, {1, 2, 0.4}, {1024, 2048, 700}),
      Batch(kCronJob, "session-cleanup", 4, {0.5, 0.5, 0.06}, {512, 512, 70}),
      Batch(kCronJob, "cache-warmup", 10, {0.25, 1, 0.6}, {128, 512, 240}),
      Batch(kCronJob, "backup", 15, {1, 0, 0.3}, {2048, 2048, 260}),
      Batch(kJob, "history-import", 40, {0.5, 1, 0.7}, {1024, 2048, 800}),
      Batch(kJob, "model-training", 60, {2, 3, 2.4}, {4096, 4096, 2900}),
  };
}

std::vector<WorkloadSpec> Media() {
  return {
      Service("media", "transcoder", kCloneSet, 3, kBursty,
              {{"transcoder",
                "registry.example.net/media/transcoder:1.4.0",
                {1, 2, 0.4},
                {1024, 2048, 600}}}),
      Service("media", "thumbnailer", kCloneSet, 2, kDailyWave,
              {{"thumbnailer",
                "registry.example.net/media/thumbnailer:0.7.3",
                {0.5, 0.5, 0.3},
                {512, 512, 210}}}),
      Service("media", "feature-store", kAdvancedStatefulSet, 2, kSteady,
              {{"store",
                "registry.example.net/media/feature-store:1.2.2",
                {0.5, 1, 0.1},
                {2048, 2048, 700}}}),
      Service("media", "uploader", kDeployment, 1, kBursty,
              {{"uploader",
                "registry.example.net/media/uploader:2.2.0",
                {0.3, 1, 0.08},
                {512, 1024, 150}}}),
      {.name_space = "media",
       .name = "image-api",
       .kind = kDeployment,
       .replicas = 2,
       .temper = kWeeklyWave,
       .containers =
           {{"api", "registry.example.net/media/image-api:3.0.0", {0.5, 1, 0.2}, {768, 1024, 280}}},
       .original_resources =
           R"({"api":{"requests":{"cpu":"1500m","memory":"2Gi"},"limits":{"cpu":"3","memory":"2816Mi"}}})"},
  };
}

std::vector<WorkloadSpec> Dev() {
  return {
      Service("dev", "debug-shell", kBarePod, 1, kSteady,
              {{"shell", "docker.io/library/debian:12-slim", {0, 0, 0.001}, {0, 0, 6}}}),
      Service(
          "dev", "load-generator", kBarePod, 1, kSteady,
          {{"generator", "registry.example.net/dev/load:0.3.1", {0.2, 0.5, 0.15}, {128, 256, 60}}}),
      Service("dev", "playground", kDeployment, 1, kWeeklyWave,
              {{"notebook",
                "registry.example.net/dev/notebook:2024.3",
                {2, 4, 0.05},
                {4096, 4096, 520}}}),
      Service("dev", "ci-runner", kDeployment, 2, kBursty,
              {{"runner",
                "registry.example.net/dev/ci-runner:16.10",
                {0.5, 2, 0.3},
                {1024, 2048, 420}}}),
      Service(
          "dev", "preview", kDeployment, 1, kWeeklyWave,
          {{"web", "registry.example.net/dev/preview:1.0.0", {0.5, 1, 0.06}, {512, 1024, 110}}}),
      Service("dev", "docs", kDeployment, 1, kSteady,
              {{"nginx", "docker.io/library/nginx:1.25", {0.1, 0.2, 0.004}, {128, 256, 12}}}),
  };
}

}  // namespace

std::vector<WorkloadSpec> MakeCatalog() {
  std::vector<WorkloadSpec> all;
  for (std::vector<WorkloadSpec> part :
       {KubeSystem(), Monitoring(), Shop(), Pay(), Data(), BatchJobs(), Media(), Dev()}) {
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<NodeSpec> MakeNodes() {
  return {
      {"control-1", Runtime::kContainerd, true, 4, 16},
      {"worker-1", Runtime::kDocker, false, 12, 48},
      {"worker-2", Runtime::kDocker, false, 12, 48},
      {"worker-3", Runtime::kContainerd, false, 12, 48},
      {"worker-4", Runtime::kContainerd, false, 12, 48},
      {"worker-5", Runtime::kContainerd, false, 12, 48},
  };
}

}  // namespace tidemark::demo_cluster
