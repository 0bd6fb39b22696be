#!/usr/bin/env python3
"""The files in deploy/autoscaling/ do what they are for: what stands in them is asked of the real daemon and of a real Prometheus
that scrapes it, and gives the target.

Neither KEDA nor prometheus-adapter nor Kubernetes runs here. Their part is done as their code does it: KEDA's metrics-api and
prometheus scalers (pkg/scalers), prometheus-adapter's expansion of a rule (pkg/naming), the HPA controller's arithmetic
(pkg/controller/podautoscaler).

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool autoscaling_files_test.py
"""

import base64
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse

from kubernetes_port import Certificates, KubernetesDaemon
from programs import ANSWER_SECONDS, free_port, get, total, wait_for
from scaling_test import MINUTE, WEB, Stream

try:
    import yaml
except ImportError:
    yaml = None

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
FILES = DEPLOY / "autoscaling"
TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
MINUTES = 90
DEFAULT_TOLERANCE = 0.1  # of kube-controller-manager
# Of Tidemark's pod, as service discovery attaches them to what is scraped.
POD = {"namespace": "monitoring", "pod": "tidemark-0", "container": "tidemark"}


def load(name):
    return yaml.safe_load((FILES / name).read_text(encoding="utf-8"))


def trigger(name, kind):
    (found,) = load(name)["spec"]["triggers"]
    assert found["type"] == kind, found
    return found


def pairs(text):
    """Labels of `{a="b",…}` with equality matchers only."""
    found = re.fullmatch(r'(\w+)\{((?:\w+="[^"\\]*",?)*)\}', text)
    assert found, text
    return found[1], dict(re.findall(r'(\w+)="([^"]*)"', found[2]))


def desired(total_value, average, replicas, up, down):
    """Of an HPA for AverageValue (replica_calculator.go, GetExternalPerPodMetricReplicas)."""
    ratio = total_value / (average * replicas)
    if 1 - down <= ratio <= 1 + up:
        return replicas
    return math.ceil(total_value / average)


class Prometheus:
    """One that scrapes `targets`, with honor_labels or without."""

    def __init__(self, port, honor_labels):
        self.folder = tempfile.mkdtemp(prefix="tidemark-autoscaling-")
        address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{address}"
        config = pathlib.Path(self.folder, "prometheus.yml")
        config.write_text(json.dumps({  # YAML is a superset
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "tidemark", "honor_labels": honor_labels,
                                "static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": POD}]}]}))
        with open(os.path.join(self.folder, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={config}", "--log.level=warn", f"--storage.tsdb.path={self.folder}/tsdb",
                 f"--web.listen-address={address}"], stdout=log, stderr=log)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, path, **parameters):
        try:
            return json.loads(get(f"{self.url}{path}?" + urllib.parse.urlencode(parameters)))["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it reads its own state
                return {}
            raise AssertionError(error.read().decode()) from error
        except OSError:
            return {}  # not up yet

    def query(self, expression):
        """[(labels, value)] of an instant vector."""
        data = self.ask("/api/v1/query", query=expression)
        if data:
            assert data["resultType"] == "vector", data
        return [(row["metric"], float(row["value"][1])) for row in data.get("result", ())]


@unittest.skipIf(yaml is None, "the Python module yaml is not installed")
class Files(unittest.TestCase):
    """What can be seen without a daemon."""

    def test_every_file_is_tried_here(self):
        self.assertEqual({path.name for path in FILES.iterdir()}, {
            "hpa.yaml", "hpa-without-tolerance.yaml", "keda-metrics-api.yaml", "keda-prometheus.yaml",
            "prometheus-adapter.yaml"})

    def test_every_file_is_about_the_same_workload(self):
        for name in ("hpa.yaml", "hpa-without-tolerance.yaml", "keda-metrics-api.yaml", "keda-prometheus.yaml"):
            with self.subTest(name):
                document = load(name)
                self.assertEqual(document["metadata"]["namespace"], WEB["namespace"])
                self.assertEqual(document["spec"]["scaleTargetRef"]["name"], WEB["workload"])
                self.assertEqual(document["spec"]["scaleTargetRef"].get("kind", "Deployment").lower(), WEB["workload_type"])

    def test_the_two_hpas_differ_in_tolerance_only(self):
        with_it, without = load("hpa.yaml"), load("hpa-without-tolerance.yaml")
        for direction in ("scaleUp", "scaleDown"):
            self.assertEqual(with_it["spec"]["behavior"][direction].pop("tolerance"), "0")  # a quantity, so a text
            self.assertEqual(with_it["spec"]["behavior"][direction], {"stabilizationWindowSeconds": 0})
        self.assertEqual(with_it, without)
        self.assertEqual((with_it["apiVersion"], with_it["kind"]), ("autoscaling/v2", "HorizontalPodAutoscaler"))
        external, resource = with_it["spec"]["metrics"]
        self.assertEqual(external["external"]["target"], {"type": "AverageValue", "averageValue": "1"})
        # Neither moves when right-sizing changes requests.
        self.assertEqual(resource["resource"]["target"]["type"], "AverageValue")

    def test_the_rule_in_the_comment_is_good(self):
        comment = re.findall(r"^#   (.*)$", (FILES / "hpa-without-tolerance.yaml").read_text(encoding="utf-8"), re.MULTILINE)
        text = "\n".join(comment) + "\n"
        (rule,) = yaml.safe_load(text)["scaling"]["workloads"]
        self.assertEqual(rule["escape_dead_band"], True)
        for label, value in WEB.items():
            self.assertIn(f'{label}="{value}"', rule["selector"])
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "tidemark.yaml")
            config.write_text(text, encoding="utf-8")
            done = subprocess.run([TIDETOOL, "check-config", str(config)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_keda_never_takes_no_data_for_none(self):
        for name, kind, threshold in (("keda-metrics-api.yaml", "metrics-api", "targetValue"),
                                      ("keda-prometheus.yaml", "prometheus", "threshold")):
            with self.subTest(name):
                document, it = load(name), trigger(name, kind)
                self.assertEqual((document["apiVersion"], document["kind"]), ("keda.sh/v1alpha1", "ScaledObject"))
                self.assertEqual(it["metricType"], "AverageValue")
                self.assertEqual(it["metadata"][threshold], "1")
                self.assertTrue(all(isinstance(value, str) for value in it["metadata"].values()))
                self.assertEqual(document["spec"]["fallback"]["behavior"], "currentReplicasIfHigher")
                behavior = document["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
                self.assertEqual(behavior, load("hpa.yaml")["spec"]["behavior"])
        self.assertEqual(trigger("keda-prometheus.yaml", "prometheus")["metadata"]["ignoreNullValues"], "false")

    def test_addresses_are_those_of_the_manifests(self):
        service = yaml.safe_load((DEPLOY / "kustomize" / "service.yaml").read_text(encoding="utf-8"))
        namespace = yaml.safe_load((DEPLOY / "kustomize" / "kustomization.yaml").read_text(encoding="utf-8"))["namespace"]
        (port,) = [port["port"] for port in service["spec"]["ports"]]
        self.assertEqual(trigger("keda-metrics-api.yaml", "metrics-api")["metadata"]["url"],
                         f"http://{service['metadata']['name']}.{namespace}.svc:{port}/metrics")


@unittest.skipIf(yaml is None, "the Python module yaml is not installed")
class Asked(unittest.TestCase):
    """A daemon that was told an hour and a half of the Deployment of the files, with the webhook's configuration."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("prometheus"):
            raise unittest.SkipTest("prometheus is not installed")
        folder = tempfile.TemporaryDirectory(prefix="tidemark-autoscaling-")
        cls.addClassCleanup(folder.cleanup)
        config = (DEPLOY / "kustomize-webhook" / "tidemark.yaml").read_text(encoding="utf-8")
        cls.stream = Stream(int(time.time()) // MINUTE * MINUTE - MINUTES * MINUTE, MINUTES + 60)
        cls.daemon = KubernetesDaemon(
            Certificates(folder.name), config + "scaling: {workloads: [{selector: '{workload=\"web\"}', policy: hpa}]}\n")
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.__enter__()
        cls.stream.send(cls.daemon, MINUTES)
        cls.daemon.wait_for_tick()
        cls.honoring, cls.renaming = (Prometheus(cls.daemon.port, honor_labels) for honor_labels in (True, False))
        cls.addClassCleanup(cls.honoring.close)
        cls.addClassCleanup(cls.renaming.close)

    def setUp(self):
        self.keep_up()
        self.target = total(self.daemon.metrics(), "tidemark_target_replicas", **WEB)
        self.assertGreaterEqual(self.target, Stream.LOW)
        self.assertLessEqual(self.target, Stream.HIGH)

    def keep_up(self):
        """The stream goes on with the minutes: what is asked for is fresh."""
        while self.stream.start + self.stream.sent * MINUTE <= time.time():
            self.stream.send(self.daemon, 1)
            self.daemon.wait_for_tick()

    def scraped(self):
        """When Prometheus has the newest target."""
        wait_for("the target in Prometheus", lambda: [
            value for _, value in self.honoring.query("tidemark_target_replicas")] == [self.target])

    def only_where_labels_are_honored(self, expression):
        """[(labels, value)] of the query; and it finds nothing where `namespace` is that of Tidemark's pod."""
        self.scraped()
        found = self.honoring.query(expression)
        moved = wait_for("the renamed series", lambda: self.renaming.query("tidemark_target_replicas"))
        self.assertEqual([(labels["namespace"], labels["exported_namespace"]) for labels, _ in moved],
                         [(POD["namespace"], WEB["namespace"])])
        self.assertEqual(self.renaming.query(expression), [])
        return found

    def test_keda_asks_prometheus(self):
        (element,) = self.only_where_labels_are_honored(trigger("keda-prometheus.yaml", "prometheus")["metadata"]["query"])
        self.assertEqual(element[1], self.target)

    def test_keda_asks_tidemark(self):
        metadata = trigger("keda-metrics-api.yaml", "metrics-api")["metadata"]
        self.assertEqual(metadata["format"], "prometheus")
        name, wanted = pairs(metadata["valueLocation"])
        status, headers, page = self.daemon.get(urllib.parse.urlsplit(metadata["url"]).path)
        self.assertEqual(status, 200)
        # KEDA's parser reads the text format of Prometheus only, and takes the value by the family's type.
        self.assertTrue(headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers["Content-Type"])
        self.assertIn(f"# TYPE {name} gauge\n".encode(), page)
        matching = [value for (metric, labels), value in self.daemon.metrics().items()
                    if metric == name and wanted.items() <= dict(labels).items()]
        self.assertEqual(matching, [self.target])

    def adapted(self, prometheus):
        """What prometheus-adapter asks for the HPA of hpa.yaml, or None when it knows no such metric."""
        (rule,) = load("prometheus-adapter.yaml")["externalRules"]
        external = load("hpa.yaml")["spec"]["metrics"][0]["external"]["metric"]
        series = prometheus.ask("/api/v1/series", **{"match[]": rule["seriesQuery"], "start": time.time() - 60})
        names = {each["__name__"] for each in series or () if re.search(rule["name"]["matches"], each["__name__"])}
        if not names:
            return None
        self.assertEqual(names, {external["name"]})
        self.assertEqual(rule["name"]["as"], external["name"])
        # The label that stands for the namespace, after the HPA's own.
        (namespace,) = [label for label, it in rule["resources"]["overrides"].items() if it["resource"] == "namespace"]
        matchers = {**external["selector"]["matchLabels"], namespace: WEB["namespace"]}
        fields = {"Series": names.pop(), "LabelMatchers": ",".join(f'{label}="{value}"' for label, value in matchers.items()),
                  "GroupBy": ""}  # empty for external metrics
        query = re.sub(r"<<\.(\w+)>>", lambda found: fields[found[1]], rule["metricsQuery"])
        self.assertNotIn("<<", query)
        return query

    def test_prometheus_adapter_asks_prometheus(self):
        self.scraped()
        found = self.only_where_labels_are_honored(self.adapted(self.honoring))
        self.assertEqual(found, [({label: WEB[label] for label in WEB}, self.target)])
        # An HPA of another namespace gets nobody else's.
        query = self.adapted(self.honoring).replace('namespace="shop"', 'namespace="elsewhere"')
        self.assertEqual(self.honoring.query(query), [])

    def landing(self, name):
        """{replicas now: replicas then} of a manifest, by the number that the Kubernetes port serves."""
        spec = load(name)["spec"]
        external = spec["metrics"][0]["external"]
        selector = ",".join(f"{label}={value}" for label, value in external["metric"]["selector"]["matchLabels"].items())
        status, answer = self.daemon.metric(external["metric"]["name"], urllib.parse.quote(selector), WEB["namespace"])
        self.assertEqual(status, 200, answer)
        served = sum(int(item["value"]) for item in answer["items"])
        self.assertEqual(served, self.target)
        up, down = (float(spec["behavior"][direction].get("tolerance", DEFAULT_TOLERANCE))
                    for direction in ("scaleUp", "scaleDown"))
        average = float(external["target"]["averageValue"])
        # Not only this number: the same workload, larger.
        return {(value, now): desired(value, average, now, up, down)
                for value in (served, 10 * served) for now in range(1, 12 * served)}

    def test_the_hpa_lands_on_the_target(self):
        for (value, now), then in self.landing("hpa.yaml").items():
            self.assertEqual(then, value, now)

    def test_without_tolerance_a_tenth_is_a_dead_band(self):
        landed = self.landing("hpa-without-tolerance.yaml")
        for (value, now), then in landed.items():
            if now < 10:
                self.assertEqual(then, value, now)
            elif then != value:
                self.assertEqual(then, now)
                self.assertLessEqual(abs(value - now), 0.1 * now + 1e-9)
        self.assertTrue([now for (value, now), then in landed.items() if then != value], "nothing was in the band")

    def test_the_configuration_of_the_webhook_corrects_pods_that_ask_for_it(self):
        """deploy/kustomize-webhook: CPU alone, downwards, and only by the pod's label."""
        def patch(**labels):
            pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {
                "generateName": "web-5c9f7b6d4-", "labels": {"pod-template-hash": "5c9f7b6d4", **labels},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5c9f7b6d4", "uid": "1",
                                     "controller": True}]},
                "spec": {"containers": [{"name": "app", "image": "i", "resources": {
                    "requests": {"cpu": "8", "memory": "1Gi"}, "limits": {"cpu": "16", "memory": "2Gi"}}}]}}
            resource = {"group": "", "version": "v1", "resource": "pods"}
            status, _, answer = self.daemon.ask("/admission/pods", "POST", {"Content-Type": "application/json"}, json.dumps({
                "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
                    "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": {"group": "", "version": "v1", "kind": "Pod"},
                    "resource": resource, "namespace": "shop", "operation": "CREATE", "object": pod, "oldObject": None,
                    "dryRun": False}}), certificate=None)
            self.assertEqual(status, 200, answer)
            response = json.loads(answer)["response"]
            self.assertIs(response["allowed"], True)
            return json.loads(base64.b64decode(response["patch"])) if "patch" in response else None

        self.assertIsNone(patch())
        self.assertIsNone(patch(**{"tidemark.io/mode": "dry-run"}))
        changed = [step["path"] for step in patch(**{"tidemark.io/mode": "apply"}) if step["path"].startswith("/spec")]
        self.assertEqual(changed, ["/spec/containers/0/resources/requests/cpu"])


if __name__ == "__main__":
    unittest.main()
