#!/usr/bin/env python3
"""The Kubernetes face: the real kubectl, a front proxy and an admission review get what Prometheus' samples say.

usage: TIDEMARK_BIN=build/release/bin/tidemark kubernetes_test.py
"""

import base64
import json
import math
import re
import tempfile
import time
import unittest

from kubernetes_port import GROUP, VERSION, Certificates, FrontProxy, Kubectl, KubernetesDaemon
from programs import pack, series, total, wait_for
from scaling_test import MINUTE, WEB, Stream

CONFIG = """
scaling: {workloads: [{selector: '{workload="web"}', policy: hpa}]}
estimation: {effect: applied, cpu: {correction: keep_original}}
rightsizing:
  mode: off
  rules:
    - {selector: '{namespace="shop"}', mode: apply}
kubernetes: {freshness: {serve: 2m30s, hold: 5m}}
"""
TARGET = f"{VERSION}/namespaces/shop/tidemark_target_replicas"
MINUTES = 90


def decoded(answer):
    return json.loads(answer[2])


def review(daemon, pod, **request):
    """What the webhook says of a pod, as kube-apiserver checks it."""
    body = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"}, "namespace": "shop", "operation": "CREATE",
        "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller"}, "object": pod,
        "oldObject": None, "dryRun": False, **request}}
    status, _, answer = daemon.ask("/admission/pods?timeout=10s", "POST", {"Content-Type": "application/json"},
                                   json.dumps(body), certificate=None)
    if status != 200:
        raise AssertionError((status, answer))
    answer = json.loads(answer)
    response = answer["response"]
    good = ((answer["kind"], answer["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")
            and response["uid"] == body["request"]["uid"] and response["allowed"] is True
            and ("patch" in response) == ("patchType" in response))
    if not good:
        raise AssertionError(answer)
    return response


class Told(unittest.TestCase):
    """A daemon that was told an hour and a half of a Deployment, up to now."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-kubernetes-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.certificates = Certificates(cls.folder)
        cls.stream = Stream(int(time.time()) // MINUTE * MINUTE - MINUTES * MINUTE, MINUTES + 60)
        cls.daemon = KubernetesDaemon(cls.certificates, CONFIG)
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.__enter__()
        cls.stream.send(cls.daemon, MINUTES)
        cls.daemon.wait_for_tick()

    def keep_up(self):
        """The stream goes on with the minutes: what is asked for is fresh."""
        while self.stream.start + self.stream.sent * MINUTE <= time.time():
            self.stream.send(self.daemon, 1)
            self.daemon.wait_for_tick()

    def kubectl(self, server=None):
        folder = tempfile.TemporaryDirectory(prefix="kubectl-", dir=self.folder)
        self.addCleanup(folder.cleanup)
        if server:
            return Kubectl(folder.name, server)
        return Kubectl(folder.name, f"https://127.0.0.1:{self.daemon.kubernetes_port()}", self.certificates)

    def callers(self):
        """Of kubectl: straight, with a certificate, and through a front proxy."""
        yield "by certificate", self.kubectl()
        with FrontProxy(self.daemon) as proxy:
            yield "through the front proxy", self.kubectl(proxy.url)

    def test_kubectl_gets_the_target_that_metrics_show(self):
        for how, kubectl in self.callers():
            with self.subTest(how):
                self.keep_up()
                expected = total(self.daemon.metrics(), "tidemark_target_replicas", **WEB)
                self.assertGreaterEqual(expected, 2)
                code, out, err = kubectl.run("get", "--raw", TARGET + "?labelSelector=workload%3Dweb")
                self.assertEqual((code, err), (0, ""))
                answer = json.loads(out)
                self.assertEqual(answer["kind"], "ExternalMetricValueList")
                self.assertEqual(answer["apiVersion"], "external.metrics.k8s.io/v1beta1")
                (item,) = answer["items"]
                self.assertEqual(item["metricName"], "tidemark_target_replicas")
                self.assertEqual(item["value"], str(int(expected)))
                self.assertEqual(item["metricLabels"]["workload"], "web")
                self.assertEqual(item["metricLabels"]["workload_type"], "deployment")
                self.assertRegex(item["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_kubectl_lists_the_resources(self):
        for how, kubectl in self.callers():
            with self.subTest(how):
                code, out, err = kubectl.run("api-resources", "--api-group=external.metrics.k8s.io", "--no-headers")
                self.assertEqual((code, err), (0, ""), out)
                names = [line.split()[0] for line in out.splitlines()]
                self.assertIn("tidemark_target_replicas", names)
                self.assertIn("tidemark_recommended_request", names)
                self.assertLess(len(names), 10)

    def test_kubectl_shows_the_decision_and_its_reason_as_a_table(self):
        for how, kubectl in self.callers():
            with self.subTest(how):
                self.keep_up()
                code, out, err = kubectl.run("get", "tidemark_target_replicas", "-n", "shop")
                self.assertEqual((code, err), (0, ""), out)
                head, row = out.splitlines()
                for column in ("NAME", "TARGET", "CURRENT", "REASON", "AGE"):
                    self.assertIn(column, head)
                target = row[head.index("TARGET"):].split()[0]
                shown = total(self.daemon.metrics(), "tidemark_target_replicas", **WEB)
                self.assertEqual(target, str(int(shown)))
                self.assertIn("web", row.split()[0])
                self.assertGreater(len(row[head.index("REASON"):head.index("AGE")].split()), 3, "a sentence")
                wide = kubectl.run("get", "tidemark_target_replicas", "-n", "shop", "-l", "workload=web", "-o", "wide")
                self.assertEqual(wide[0], 0, wide)
                self.assertGreater(len(wide[1].splitlines()[0]), len(head))
                self.assertIn("POLICY", wide[1])

    def test_kubectl_is_told_what_is_wrong_and_what_there_is(self):
        for how, kubectl in self.callers():
            with self.subTest(how):
                code, _, err = kubectl.run("get", "--raw", TARGET + "?labelSelector=workload%3Dwbe")
                self.assertNotEqual(code, 0)
                self.assertIn('no workload in namespace "shop" matches "workload=wbe"', err)
                self.assertIn("web", err)
                code, _, err = kubectl.run("get", "tidemark_target_replicas", "-n", "shop", "-l", "workload=wbe")
                self.assertIn("no workload", err)
                code, _, err = kubectl.run("get", "--raw", TARGET.replace("replicas", "replica") + "?labelSelector=a")
                self.assertNotEqual(code, 0)
                self.assertIn("tidemark_target_replica", err)
                code, _, err = kubectl.run("get", "--raw", TARGET + "?labelSelector=workload%3D%3D%3Dx")
                self.assertNotEqual(code, 0)

    def test_the_hpa_lands_on_the_number(self):
        """The controller's arithmetic for AverageValue 1, with the tolerance of the shipped manifest."""
        self.keep_up()
        status, answer = self.daemon.metric("tidemark_target_replicas", "workload%3Dweb%2Cworkload_type%3Ddeployment")
        self.assertEqual(status, 200, answer)
        milli = sum(int(1000 * float(item["value"])) for item in answer["items"])
        current = self.stream.replicas[self.stream.newest()[1]]
        desired = current if milli == 1000 * current else math.ceil(milli / 1000)
        self.assertEqual(desired, total(self.daemon.metrics(), "tidemark_target_replicas", **WEB))

    def test_the_aggregator_finds_what_it_asks_for(self):
        status, headers, body = self.daemon.ask("/apis", headers={
            "Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}, user="system:kube-aggregator")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
        resources = json.loads(body)["items"][0]["versions"][0]["resources"]
        self.assertTrue(all(resource["responseKind"] for resource in resources))
        again = self.daemon.ask("/apis", headers={
            "Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            "If-None-Match": headers["ETag"]})
        self.assertEqual((again[0], again[2]), (304, b""))
        self.assertEqual(self.daemon.ask(VERSION, user="system:kube-aggregator")[0], 200)
        self.assertEqual(self.daemon.ask(VERSION + "/?timeout=32s")[0], 200)
        for path in ("/openapi/v2", "/openapi/v3", "/nothing", GROUP + "/v1", VERSION + "/namespaces/shop"):
            status, headers, body = self.daemon.ask(path)
            self.assertEqual((status, json.loads(body)["kind"]), (404, "Status"), path)
            self.assertIsNone(headers["Retry-After"])
        for path in ("/healthz", "/livez", "/readyz"):
            self.assertEqual(self.daemon.ask(path, certificate=None)[0], 200, path)

    def test_whatever_client_go_sends_is_understood(self):
        self.keep_up()
        expected = decoded(self.daemon.ask(TARGET + "?labelSelector=workload%3Dweb"))["items"][0]["value"]
        for query in ("labelSelector=workload+in+%28web%2Capi%29%2Cworkload_type%21%3DJob", "labelSelector=workload=web",
                      "labelSelector=workload%20in%20(web)%2C%20!container&timeout=32s&limit=500&resourceVersion=0",
                      "timeout=1m0s&labelSelector=workload%3D%3Dweb"):
            status, _, body = self.daemon.ask(f"{TARGET}?{query}")
            self.assertEqual((status, json.loads(body).get("items", [{}])[0].get("value")), (200, expected), (query, body))
        status, headers, body = self.daemon.ask(TARGET + "?labelSelector=workload%3Dweb", "HEAD")
        self.assertEqual((status, body, headers["Content-Type"]), (200, b"", "application/json"))
        self.assertGreater(int(headers["Content-Length"]), 100)
        self.assertEqual(self.daemon.ask(TARGET + "?labelSelector=workload%3Dweb&timeout=soon")[0], 400)

    def test_every_metric_is_what_the_exposition_shows(self):
        self.keep_up()

        def number(text):
            found = re.fullmatch(r"(\d+)(m|Ki|Mi|Gi|k|M|G|)", text)
            return int(found[1]) * {"m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}[found[2]]

        status, answer = self.daemon.metric("tidemark_recommended_request", "workload%3Dweb,resource%3Dcpu")
        self.assertEqual(status, 200, answer)
        shown = total(self.daemon.metrics(), "tidemark_recommended_request", resource="cpu", **WEB)
        self.assertGreater(shown, 0)
        self.assertLess(abs(number(answer["items"][0]["value"]) - shown), 0.0011)

    def review(self, pod, **request):
        return review(self.daemon, pod, **request)

    @staticmethod
    def pod(cpu="8"):
        return {"kind": "Pod", "apiVersion": "v1", "metadata": {
            "generateName": "web-5c9f7b6d4-", "labels": {"app": "web", "pod-template-hash": "5c9f7b6d4"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5c9f7b6d4", "uid": "1",
                                 "controller": True, "blockOwnerDeletion": True}]},
            "spec": {"containers": [{"name": "app", "image": "i", "resources": {
                "requests": {"cpu": cpu, "memory": "1Gi"}, "limits": {"cpu": "16", "memory": "2Gi"}}}]}}

    def test_a_pod_is_right_sized_when_it_is_created(self):
        self.keep_up()
        recommended = total(self.daemon.metrics(), "tidemark_recommended_request", resource="cpu", **WEB)
        response = self.review(self.pod())
        self.assertIn("patch", response, response)
        patch = json.loads(base64.b64decode(response["patch"]))
        self.assertEqual(response["patchType"], "JSONPatch")
        (cpu,) = [step for step in patch if step["path"].endswith("/requests/cpu")]
        self.assertEqual(cpu["path"], "/spec/containers/0/resources/requests/cpu")
        milli = int(re.fullmatch(r"(\d+)m", cpu["value"])[1]) if cpu["value"].endswith("m") else 1000 * int(cpu["value"])
        self.assertLess(abs(milli / 1000 - recommended), 0.0011)
        self.assertFalse([step for step in patch if "limits" in step["path"] and step["path"].startswith("/spec")])
        (kept,) = [step["value"] for step in patch if step["path"] == "/metadata/annotations/tidemark.io~1original-resources"]
        self.assertEqual(json.loads(kept)["app"]["requests"], {"cpu": "8", "memory": "1Gi"})
        # What was asked for is less than is recommended: it stays.
        self.assertNotIn("patch", self.review(self.pod(cpu="100m")))
        # A pod may say no for itself, and other namespaces are off.
        reluctant = self.pod()
        reluctant["metadata"]["labels"]["tidemark.io/mode"] = "off"
        self.assertNotIn("patch", self.review(reluctant))
        self.assertNotIn("patch", self.review(self.pod(), namespace="elsewhere"))

    def test_nothing_ever_says_when_to_come_back(self):
        for path, method in ((TARGET, "POST"), (TARGET + "?watch=1", "GET"), ("/x", "GET"), (TARGET + "?labelSelector=!", "GET"),
                             (VERSION, "DELETE")):
            status, headers, body = self.daemon.ask(path, method)
            self.assertGreaterEqual(status, 400, path)
            self.assertIsNone(headers["Retry-After"])
            self.assertEqual(json.loads(body)["kind"], "Status")


class Bounded(unittest.TestCase):
    """A namespace with a LimitRange: a pod that asked for less than it allows would be refused by the API server."""

    MINIMUM = 5

    def test_no_request_is_less_than_the_limit_range_allows(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-limit-range-") as folder:
            stream = Stream(int(time.time()) // MINUTE * MINUTE - MINUTES * MINUTE, MINUTES)
            with KubernetesDaemon(Certificates(folder), CONFIG) as daemon:
                stream.send(daemon, MINUTES)
                limit = {"__name__": "kube_limitrange", "namespace": "shop", "limitrange": "sane", "resource": "cpu",
                         "type": "Container", "constraint": "min"}
                self.assertEqual(daemon.write(pack(series(limit, self.MINIMUM, int(time.time() * 1000))))[0], 204)
                daemon.wait_for_tick()
                recommended = total(daemon.metrics(), "tidemark_recommended_request", resource="cpu", **WEB)
                self.assertTrue(0 < recommended < self.MINIMUM, recommended)
                for _ in range(2):
                    response = review(daemon, Told.pod())
                    patch = json.loads(base64.b64decode(response["patch"]))
                    (cpu,) = [step["value"] for step in patch if step["path"].endswith("/requests/cpu")]
                    self.assertEqual(cpu, str(self.MINIMUM))
                    daemon.kill()  # what is known of it outlives that
                    daemon.start()
                    daemon.wait_for_tick()


class Silence(unittest.TestCase):
    """The stream ends: the value is held, then it is an error, and never a smaller number."""

    CONFIG = CONFIG.replace("serve: 2m30s, hold: 5m", "serve: 15s, hold: 40s")

    def test_a_value_is_held_and_then_refused(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-silence-") as folder:
            # Ahead of the machine's clock, when the certificates are valid already.
            stream = Stream(int(time.time()) // MINUTE * MINUTE + 3600, MINUTES)
            # The last minute that is known ends with the last sample but one: it has just ended when the clock begins.
            clock = stream.start + (MINUTES - 1) * MINUTE
            certificates = Certificates(folder)
            with KubernetesDaemon(certificates, self.CONFIG, flags=[f"--clock.start={clock * 1000}"]) as daemon:
                kubectl = Kubectl(folder, f"https://127.0.0.1:{daemon.kubernetes_port()}", certificates)
                # Nothing is known, and it is said so; what can be asked for is listed all the same.
                self.assertEqual(kubectl.run("api-resources", "--api-group=external.metrics.k8s.io")[0], 0)
                status, answer = daemon.metric("tidemark_target_replicas", "workload%3Dweb")
                self.assertEqual((status, answer["kind"]), (404, "Status"))
                stream.send(daemon, MINUTES)
                asked = []

                def ask():
                    at = time.monotonic()
                    status, answer = daemon.metric("tidemark_target_replicas", "workload%3Dweb")
                    if status == 200:
                        (item,) = answer["items"]
                        asked.append((at, item["metricLabels"].get("stale") == "true", int(item["value"])))
                    return status, answer

                wait_for("a target", lambda: ask()[0] == 200)
                held = wait_for("a value that is held", lambda: ask()[0] == 200 and asked[-1][1])
                self.assertTrue(held)
                status, answer = wait_for("an error", lambda: (lambda it: it if it[0] != 200 else None)(ask()))
                self.assertEqual((status, answer["reason"]), (503, "ServiceUnavailable"))
                self.assertRegex(answer["message"], r"shop/web .*old .*40s")
                self.assertEqual(len({value for _, _, value in asked}), 1, asked)
                # Held for no longer than was said, by the machine's clock.
                stale = [at for at, is_stale, _ in asked if is_stale]
                self.assertLess(stale[-1] - stale[0], 40 - 15 + 1)
                # Restarted, it has nothing newer to say; and never nothing at all.
                daemon.kill()
                daemon.start()
                status, answer = daemon.metric("tidemark_target_replicas", "workload%3Dweb")
                self.assertIn(status, (200, 503))
                if status == 200:  # its clock began again
                    self.assertEqual(int(answer["items"][0]["value"]), asked[-1][2])


if __name__ == "__main__":
    unittest.main(verbosity=2)
