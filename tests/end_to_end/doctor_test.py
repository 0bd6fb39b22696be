#!/usr/bin/env python3
"""tidetool doctor: a true Tidemark behind an API server of the tests' own, which passes requests on as the aggregation layer
does, over TLS, and in which this and that is broken.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool doctor_test.py
"""

import base64
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import yaml

from certificates import Authority
from fake_kubernetes import APISERVICE, AUTOSCALERS, CONFIG_MAP, WEBHOOKS, FakeKubernetes
from kubernetes_port import Certificates, KubernetesDaemon
from programs import free_port, pack, series, wait_for

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
# Tidemark's Service, and one that stands for KEDA's; both are names only, what answers is on this machine.
OURS = ("tidemark", "tidemark")
KEDA = ("keda", "keda-operator-metrics-apiserver")


def read(path):
    return pathlib.Path(path).read_text()


def bundle(authority):
    return base64.b64encode(read(authority.certificate).encode()).decode()


def stream(now_ms, metrics):
    """A request with the series of a Deployment shop/web of one pod; `metrics`: which of them."""
    pod = {"namespace": "shop", "pod": "web-5d8f-x7x2p"}
    container = {**pod, "container": "app"}
    all_series = {
        "container_cpu_usage_seconds_total": ({**container, "cpu": "total"}, 100),
        "container_memory_working_set_bytes": (container, 3e8),
        "kube_pod_owner": ({**pod, "owner_kind": "ReplicaSet", "owner_name": "web-5d8f", "owner_is_controller": "true"}, 1),
        "kube_replicaset_owner": ({"namespace": "shop", "replicaset": "web-5d8f", "owner_kind": "Deployment",
                                   "owner_name": "web", "owner_is_controller": "true"}, 1),
        "kube_pod_container_resource_requests": ({**container, "resource": "cpu", "unit": "core"}, 0.5),
        "kube_deployment_spec_replicas": ({"namespace": "shop", "deployment": "web"}, 1),
    }
    return pack(b"".join(series({"__name__": name, **labels}, value, now_ms)
                         for name, (labels, value) in all_series.items() if name in metrics))


EVERYTHING = {"container_cpu_usage_seconds_total", "container_memory_working_set_bytes", "kube_pod_owner",
              "kube_replicaset_owner", "kube_pod_container_resource_requests", "kube_deployment_spec_replicas"}


class DoctorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-doctor-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.certificates = Certificates(folder.name)
        cls.daemon = KubernetesDaemon(cls.certificates)
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.__enter__()
        cls.empty_home = cls.folder / "home"
        cls.empty_home.mkdir()

    def setUp(self):
        self.cluster = FakeKubernetes(self.folder, self.certificates.front_proxy)
        self.addCleanup(self.cluster.close)
        self.cluster.backends[OURS] = self.daemon.kubernetes_port()
        self.cluster.objects.update({
            CONFIG_MAP: {"data": {
                "client-ca-file": read(self.cluster.authority.certificate),
                "requestheader-client-ca-file": read(self.certificates.front_proxy_ca.certificate),
                "requestheader-allowed-names": '["front-proxy-client"]',
                "requestheader-username-headers": '["X-Remote-User"]',
                "requestheader-group-headers": '["X-Remote-Group"]',
                "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]'}},
            WEBHOOKS: {"items": []},
            AUTOSCALERS: {"items": []}})
        self.cluster.allowed_users.add("system:serviceaccount:tidemark:tidemark")
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.write_text(self.cluster.kubeconfig())

    def run_doctor(self, *flags):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.empty_home)}
        return subprocess.run([TIDETOOL, "doctor", *flags], env=environment, capture_output=True, text=True, timeout=120)

    def access(self):
        return [f"--tidemark.url=http://127.0.0.1:{self.daemon.port}",
                f"--kubernetes.url=https://127.0.0.1:{self.daemon.kubernetes_port()}",
                f"--kubernetes.ca-file={self.certificates.serving_ca.certificate}", f"--kubeconfig={self.kubeconfig}"]

    def diagnose(self, *flags):
        """(exit code, {check: (verdict, text)})"""
        done = self.run_doctor(*self.access(), "--output=json", *flags)
        self.assertEqual(done.stderr, "")
        report = json.loads(done.stdout)
        found = {check["check"]: (check["verdict"], check["meaning"] + " " + check.get("advice", ""))
                 for check in report["checks"]}
        self.assertEqual(done.returncode, 1 if report["problems"] else 0)
        return done.returncode, found

    def take(self, *flags):
        return self.run_doctor("--take-apiservice", f"--kubeconfig={self.kubeconfig}",
                               f"--kubernetes.ca-file={self.certificates.serving_ca.certificate}", *flags)

    def assert_verdict(self, found, check, verdict, *texts):
        self.assertIn(check, found)
        self.assertEqual(found[check][0], verdict, found[check])
        for text in texts:
            self.assertIn(text, found[check][1])

    def send(self, metrics):
        now_ms = int(time.time() * 1000)
        self.assertEqual(self.daemon.write(stream(now_ms, metrics))[0], 204)
        self.daemon.wait_for_tick()

    def test_an_installation_that_works_has_no_problems(self):
        done = self.take()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("created", done.stdout)
        self.send(EVERYTHING)
        code, found = self.diagnose()
        self.assertEqual(code, 0, found)
        for check in ("tidemark.ready", "tidemark.version", "stream.usage", "stream.requests", "port.authentication",
                      "port.certificate", "certificate.chain",
                      "certificate.names", "kubernetes.version", "apiservice.owner", "apiservice.available",
                      "apiservice.ca_bundle", "apiservice.answers", "front_proxy.config_map", "front_proxy.names",
                      "webhook.configuration", "autoscalers.found", "rbac.autoscaler", "rbac.config_map"):
            self.assert_verdict(found, check, "ok")
        # Certificates of the tests live for two days.
        self.assert_verdict(found, "certificate.validity", "warning")
        self.assert_verdict(found, "stream.limits", "warning", "kube_pod_container_resource_limits")
        table = self.run_doctor(*self.access())
        self.assertEqual(table.returncode, 0)
        self.assertRegex(table.stdout, r"(?m)^ok +apiservice\.available ")
        self.assertRegex(table.stdout, r"(?m)^problems: 0, warnings: \d+, ok: \d+, skipped: \d+$")
        self.assertTrue(any(agent.startswith("tidetool/") for _, _, agent in self.cluster.requests))

    def test_the_apiservice_of_somebody_else_is_left_alone_unless_told_so(self):
        _, found = self.diagnose()
        self.assert_verdict(found, "apiservice.owner", "problem", "does not exist", "--take-apiservice")
        foreign = {"metadata": {"name": "v1beta1.external.metrics.k8s.io", "resourceVersion": "5",
                                "labels": {"app.kubernetes.io/part-of": "keda-operator"}},
                   "spec": {"group": "external.metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100,
                            "versionPriority": 100, "caBundle": bundle(self.certificates.serving_ca),
                            "service": {"namespace": KEDA[0], "name": KEDA[1], "port": 443}}}
        self.cluster.objects[APISERVICE] = json.loads(json.dumps(foreign))
        code, found = self.diagnose()
        self.assertEqual(code, 1)
        self.assert_verdict(found, "apiservice.owner", "problem", "KEDA", "metrics-api", "--force-take-apiservice")
        refused = self.take()
        self.assertEqual(refused.returncode, 1)
        self.assertIn("KEDA", refused.stderr)
        self.assertEqual(self.cluster.objects[APISERVICE]["spec"], foreign["spec"])
        self.assertNotIn("PUT", {method for method, _, _ in self.cluster.requests})
        taken = self.take("--force-take-apiservice")
        self.assertEqual((taken.returncode, taken.stderr), (0, ""))
        self.assertEqual(self.cluster.objects[APISERVICE]["spec"]["service"],
                         {"namespace": "tidemark", "name": "tidemark", "port": 443})
        _, found = self.diagnose()
        self.assert_verdict(found, "apiservice.owner", "ok")
        self.assert_verdict(found, "apiservice.available", "ok")

    def test_the_authority_of_yesterday_in_ca_bundle_is_found_and_mended(self):
        yesterday = Authority(self.folder, "yesterday")
        self.assertEqual(self.run_doctor("--take-apiservice", f"--kubeconfig={self.kubeconfig}",
                                         f"--kubernetes.ca-file={yesterday.certificate}").returncode, 0)
        code, found = self.diagnose()
        self.assertEqual(code, 1)
        self.assert_verdict(found, "apiservice.available", "problem", "FailedDiscoveryCheck", "NetworkPolicy")
        self.assert_verdict(found, "apiservice.ca_bundle", "problem", "--take-apiservice")
        self.assert_verdict(found, "apiservice.answers", "problem")
        self.assertEqual(self.take().returncode, 0)
        _, found = self.diagnose()
        self.assert_verdict(found, "apiservice.ca_bundle", "ok")
        self.assert_verdict(found, "apiservice.available", "ok")

    def test_a_certificate_for_another_name_is_told(self):
        self.take("--service=ops/tide")
        self.cluster.backends[("ops", "tide")] = self.daemon.kubernetes_port()
        _, found = self.diagnose("--service=ops/tide")
        self.assert_verdict(found, "certificate.names", "problem", "DNS:tide.ops.svc", "tidemark.tidemark.svc")
        self.assert_verdict(found, "apiservice.owner", "ok")
        self.assert_verdict(found, "apiservice.available", "problem")

    def test_series_that_are_missing_are_named(self):
        with KubernetesDaemon(self.certificates) as other:
            flags = [f"--tidemark.url=http://127.0.0.1:{other.port}", "--output=json"]

            def found():
                checks = json.loads(self.run_doctor(*flags).stdout)["checks"]
                return {check["check"]: (check["verdict"], check["meaning"] + check.get("advice", "")) for check in checks}

            self.assert_verdict(found(), "stream.age", "problem", "/api/v1/write")
            now_ms = int(time.time() * 1000)
            other.write(stream(now_ms, EVERYTHING - {"kube_pod_container_resource_requests", "kube_pod_owner"}))
            other.wait_for_tick()
            self.assert_verdict(found(), "stream.age", "ok")
            self.assert_verdict(found(), "stream.usage", "ok")
            self.assert_verdict(found(), "stream.requests", "problem", "kube_pod_container_resource_requests")
            self.assert_verdict(found(), "stream.pod_owners", "problem", "kube_pod_owner")
            moved = {"__name__": "kube_pod_owner", "namespace": "monitoring", "exported_namespace": "shop",
                     "exported_pod": "web-5d8f-x7x2p", "pod": "kube-state-metrics-0", "owner_kind": "ReplicaSet",
                     "owner_name": "web-5d8f", "owner_is_controller": "true"}
            other.write(pack(series(moved, 1, now_ms)))
            other.wait_for_tick()
            self.assert_verdict(found(), "stream.pod_owners", "ok")
            self.assert_verdict(found(), "stream.labels", "warning", "honor_labels")

    def test_labels_that_a_scrape_moves_aside_are_found_in_prometheus(self):
        port = free_port()
        job = {"metrics_path": "/metrics", "static_configs": [
            {"targets": [f"127.0.0.1:{self.daemon.port}"], "labels": {"namespace": "monitoring"}}]}
        config = self.folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "tidemark", "honor_labels": False, **job}]}))
        url = f"http://127.0.0.1:{port}"

        def found():
            done = self.run_doctor(f"--prometheus.url={url}", "--output=json")
            return {check["check"]: (check["verdict"], check["meaning"] + check.get("advice", ""))
                    for check in json.loads(done.stdout)["checks"]}

        self.assert_verdict(found(), "labels.exported", "skipped")  # nobody answers
        self.send(EVERYTHING)
        with open(self.folder / "prometheus.log", "w") as log:
            prometheus = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/tsdb", "--log.level=warn",
                 f"--web.listen-address=127.0.0.1:{port}", "--web.enable-lifecycle"], stdout=log, stderr=log)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.terminate)
        wait_for("labels were moved aside", lambda: found().get("labels.honored", ("", ""))[0] == "problem")
        self.assert_verdict(found(), "labels.honored", "problem", "honor_labels: true")
        self.assert_verdict(found(), "labels.scraped", "ok")
        self.assert_verdict(found(), "labels.exported", "ok")

    def test_autoscalers_and_webhooks_are_looked_at(self):
        self.take()
        self.cluster.objects[AUTOSCALERS]["items"] = [{
            "metadata": {"namespace": "shop", "name": "web"},
            "spec": {"maxReplicas": 60, "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                     "metrics": [{"type": "External", "external": {
                         "metric": {"name": "tidemark_target_replicas",
                                    "selector": {"matchLabels": {"workload": "wbe", "workload_type": "deployment"}}},
                         "target": {"type": "Value", "value": "1"}}}]}}]
        self.cluster.objects[WEBHOOKS]["items"] = [{"webhooks": [{
            "name": "pods.tidemark.io", "failurePolicy": "Fail", "timeoutSeconds": 30, "clientConfig": {
                "service": {"namespace": "tidemark", "name": "tidemark"}, "caBundle": bundle(self.certificates.client_ca)}}]}]
        _, found = self.diagnose()
        self.assert_verdict(found, "autoscalers.tolerance", "warning", "shop/web", "tolerance")
        self.assert_verdict(found, "autoscalers.target", "problem", "AverageValue")
        self.assert_verdict(found, "autoscalers.workload", "problem", "wbe")
        self.assert_verdict(found, "autoscalers.served", "problem", "shop/web")
        self.assert_verdict(found, "webhook.failure_policy", "problem", "Ignore")
        self.assert_verdict(found, "webhook.timeout", "warning")
        self.assert_verdict(found, "webhook.ca_bundle", "problem")
        self.assert_verdict(found, "webhook.selector", "problem", "kube-system")

    def test_what_may_not_be_read_is_skipped_with_the_reason(self):
        self.cluster.forbidden = re.compile("/apis/|configmaps")
        self.send(EVERYTHING)
        code, found = self.diagnose()
        self.assertEqual(code, 0, found)
        for check in ("apiservice.owner", "front_proxy.config_map", "webhook.configuration", "autoscalers.found",
                      "rbac.autoscaler"):
            self.assert_verdict(found, check, "skipped", "403")
        self.cluster.token = "another"
        code, found = self.diagnose()
        self.assertEqual(code, 1)
        self.assert_verdict(found, "kubernetes.version", "problem", "401")

    def test_nothing_that_was_not_given_is_asked(self):
        done = self.run_doctor("--output=json")
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["problems"], report["ok"]), (0, 0, 0))
        self.assertEqual({check["verdict"] for check in report["checks"]}, {"skipped"})
        self.assertEqual(self.cluster.requests, [])

    def test_who_does_not_answer_is_a_problem_and_no_crash(self):
        done = self.run_doctor("--tidemark.url=http://127.0.0.1:1", "--kubernetes.url=https://127.0.0.1:1",
                               "--prometheus.url=http://127.0.0.1:1", "--kubernetes.server=https://127.0.0.1:1",
                               "--output=json")
        found = {check["check"]: check["verdict"] for check in json.loads(done.stdout)["checks"]}
        self.assertEqual(done.returncode, 1)
        for check in ("tidemark.ready", "certificate.reachable", "kubernetes.version"):
            self.assertEqual(found[check], "problem")

    def test_a_wrong_flag_ends_it_with_2(self):
        for flags in (["--output=xml"], ["--nothing"], ["--force-take-apiservice"], ["--service=x"],
                      ["--kubeconfig=/absent"]):
            done = self.run_doctor(*flags)
            self.assertEqual((done.returncode, done.stdout), (2, ""), flags)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_the_apiservice_can_be_printed_for_kubectl(self):
        done = self.run_doctor("--print-apiservice", f"--kubernetes.ca-file={self.certificates.serving_ca.certificate}")
        self.assertEqual(done.returncode, 0)
        printed = yaml.safe_load(done.stdout)
        self.assertEqual(printed["spec"]["caBundle"], bundle(self.certificates.serving_ca))
        # The same as would be written.
        self.assertEqual(self.take().returncode, 0)
        written = self.cluster.objects[APISERVICE]
        del written["metadata"]["resourceVersion"]
        self.assertEqual(printed, written)


if __name__ == "__main__":
    unittest.main()
