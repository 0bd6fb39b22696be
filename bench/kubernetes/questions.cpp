#include "bench/kubernetes/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace tidemark::bench {
namespace {

constexpr std::string_view kTemplateHash = "6d4cf56db";

/// A container as Kubernetes' own clients write it: with defaults filled in and the token mounted.
std::string Container(std::string_view name, std::string_view cpu, std::string_view memory) {
  return fmt::format(
      R"({{"name":"{0}","image":"registry.example.com/shop/{0}:v1.4.2","ports":[{{"name":"http",)"
      R"("containerPort":8080,"protocol":"TCP"}}],"env":[{{"name":"POD_NAME","valueFrom":)"
      R"({{"fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.name"}}}}}},{{"name":"LOG_LEVEL",)"
      R"("value":"info"}},{{"name":"DATABASE_URL","valueFrom":{{"secretKeyRef":{{"name":"database",)"
      R"("key":"url"}}}}}}],"resources":{{"limits":{{"memory":"64Gi"}},"requests":{{"cpu":"{1}",)"
      R"("memory":"{2}"}}}},"volumeMounts":[{{"name":"kube-api-access-x7k2p","readOnly":true,)"
      R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}},{{"name":"scratch",)"
      R"("mountPath":"/tmp"}}],"livenessProbe":{{"httpGet":{{"path":"/healthz","port":"http",)"
      R"("scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,)"
      R"("failureThreshold":3}},"readinessProbe":{{"httpGet":{{"path":"/ready","port":"http",)"
      R"("scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,)"
      R"("failureThreshold":3}},"terminationMessagePath":"/dev/termination-log",)"
      R"("terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":)"
      R"({{"allowPrivilegeEscalation":false,"capabilities":{{"drop":["ALL"]}},)"
      R"("readOnlyRootFilesystem":true,"runAsNonRoot":true}}}})",
      name, cpu, memory);
}

std::string Pod(const NamedWorkload& workload) {
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"generateName":"{0}-{2}-","namespace":"{1}",)"
      R"("creationTimestamp":null,"labels":{{"app":"{0}","app.kubernetes.io/part-of":"shop",)"
      R"("pod-template-hash":"{2}"}},"annotations":{{"prometheus.io/scrape":"true"}},)"
      R"("ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{0}-{2}",)"
      R"("uid":"0f3c7a1e-5a55-4e0f-9f6d-3b8f0f1d2c11","controller":true,)"
      R"("blockOwnerDeletion":true}}]}},"spec":{{"volumes":[{{"name":"scratch","emptyDir":{{}}}},)"
      R"({{"name":"kube-api-access-x7k2p","projected":{{"sources":[{{"serviceAccountToken":)"
      R"({{"expirationSeconds":3607,"path":"token"}}}},{{"configMap":{{"name":"kube-root-ca.crt",)"
      R"("items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}},{{"downwardAPI":{{"items":[{{"path":)"
      R"("namespace","fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.namespace"}}}}]}}}}],)"
      R"("defaultMode":420}}}}],"containers":[{3},{4}],"restartPolicy":"Always",)"
      R"("terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":)"
      R"("default","serviceAccount":"default","securityContext":{{"fsGroup":2000}},"affinity":)"
      R"({{"podAntiAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":100,)"
      R"("podAffinityTerm":{{"labelSelector":{{"matchLabels":{{"app":"{0}"}}}},"topologyKey":)"
      R"("kubernetes.io/hostname"}}}}]}}}},"schedulerName":"default-scheduler","tolerations":[{{)"
      R"("key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
      R"("tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":"Exists",)"
      R"("effect":"NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true,)"
      R"("preemptionPolicy":"PreemptLowerPriority"}},"status":{{}}}})",
      workload.name, workload.name_space, kTemplateHash, Container("app", "16", "48Gi"),
      Container("log-shipper", "4", "16Gi"));
}

}  // namespace

std::vector<NamedWorkload> ReadWorkloads(const std::string& path) {
  std::ifstream file(path);
  std::vector<NamedWorkload> workloads;
  NamedWorkload workload;
  while (file >> workload.name_space >> workload.name) workloads.push_back(workload);
  return workloads;
}

Question TargetReplicas(const NamedWorkload& workload) {
  Question question;
  question.request = fmt::format(
      "GET /apis/external.metrics.k8s.io/v1beta1/namespaces/{}/tidemark_target_replicas"
      "?labelSelector=workload%3D{}%2Cworkload_type%3Ddeployment HTTP/1.1\r\n"
      "Host: tidemark.tidemark.svc\r\n"
      "User-Agent: kube-controller-manager/v1.33.4 (linux/amd64) kubernetes/horizontal-pod-"
      "autoscaler\r\n"
      "Accept: application/vnd.kubernetes.protobuf, */*\r\n"
      "Audit-Id: 1c5b8a4e-92b5-4d19-8a0c-5b7d3f9b6e21\r\n"
      "X-Forwarded-For: 10.0.0.4\r\n"
      "X-Remote-User: system:serviceaccount:kube-system:horizontal-pod-autoscaler\r\n"
      "X-Remote-Group: system:serviceaccounts\r\n"
      "X-Remote-Group: system:serviceaccounts:kube-system\r\n"
      "X-Remote-Group: system:authenticated\r\n"
      "Accept-Encoding: gzip\r\n\r\n",
      workload.name_space, workload.name);
  question.expected = {R"("metricName":"tidemark_target_replicas")",
                       fmt::format(R"("workload":"{}")", workload.name), R"("value":")"};
  return question;
}

Question PodReview(const NamedWorkload& workload, uint64_t number) {
  const std::string uid = fmt::format("705ab4f5-6393-11e8-b7cc-{:012x}", number);
  const std::string body = fmt::format(
      R"({{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"{}",)"
      R"("kind":{{"group":"","version":"v1","kind":"Pod"}},"resource":{{"group":"","version":"v1",)"
      R"("resource":"pods"}},"requestKind":{{"group":"","version":"v1","kind":"Pod"}},)"
      R"("requestResource":{{"group":"","version":"v1","resource":"pods"}},"namespace":"{}",)"
      R"("operation":"CREATE","userInfo":{{"username":)"
      R"("system:serviceaccount:kube-system:replicaset-controller","groups":)"
      R"(["system:serviceaccounts","system:serviceaccounts:kube-system","system:authenticated"]}},)"
      R"("object":{},"oldObject":null,"dryRun":false,"options":{{"kind":"CreateOptions",)"
      R"("apiVersion":"meta.k8s.io/v1"}}}}}})",
      uid, workload.name_space, Pod(workload));
  Question question;
  question.request = fmt::format(
      "POST /admission/pods?timeout=2s HTTP/1.1\r\n"
      "Host: tidemark.tidemark.svc:443\r\n"
      "User-Agent: kube-apiserver-admission\r\n"
      "Content-Length: {}\r\n"
      "Accept: application/json, */*\r\n"
      "Content-Type: application/json\r\n"
      "Accept-Encoding: gzip\r\n\r\n{}",
      body.size(), body);
  // A patch is base64 of a list of operations, which begins with `[{`.
  question.expected = {fmt::format(R"("uid":"{}")", uid), R"("allowed":true)",
                       R"("patchType":"JSONPatch")", R"("patch":"W3s)"};
  return question;
}

bool IsRight(const Question& question, unsigned status, std::string_view body) {
  return status == 200 &&
         std::all_of(question.expected.begin(), question.expected.end(),
                     [&](const auto& text) { return body.find(text) != std::string_view::npos; });
}

}  // namespace tidemark::bench
