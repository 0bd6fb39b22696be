#!/usr/bin/env python3
"""A manifest is right-sized before it is applied: by tidetool, as in CI/CD, and over HTTP.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool rightsize_test.py
"""

import json
import pathlib
import subprocess
import tempfile
import time
import unittest

from programs import ANSWER_SECONDS, Daemon, free_port, total
from scaling_test import MINUTE, TIDETOOL, WEB, Stream

MANIFEST = """\
# The shop.
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 6   # an HPA's
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: app          # usage of 2 to 4 cores
        image: "web:1.2"
        resources:
          requests:
            cpu: "8"       # a guess
            memory: 1Gi
          limits: {cpu: 16, memory: 2Gi}
      - name: unheard-of
        image: x
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: other, namespace: elsewhere}
spec: {template: {spec: {containers: [{name: app, resources: {requests: {cpu: 2}}}]}}}
"""


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-rightsize-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        minutes = 90
        stream = Stream(int(time.time()) // MINUTE * MINUTE - minutes * MINUTE, minutes)
        cls.daemon = Daemon("")  # with nothing configured recommendations are only shown
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.__enter__()
        stream.send(cls.daemon, minutes)
        cls.daemon.wait_for_tick()
        cls.recommended = total(cls.daemon.metrics(), "tidemark_recommended_request", resource="cpu", **WEB)

    def tidetool(self, *arguments, manifest=None, url=None):
        done = subprocess.run(
            [TIDETOOL, "rightsize", f"--tidemark.url={url or f'http://127.0.0.1:{self.daemon.port}'}", *arguments],
            input=manifest, text=True, capture_output=True, timeout=ANSWER_SECONDS, check=False)
        return done.returncode, done.stdout, done.stderr

    def post(self, body, query="", content_type="application/yaml"):
        status, headers, answer = self.daemon.request(
            "POST", "/api/v1/rightsize" + query, {"Content-Type": content_type}, body.encode())
        return status, headers, answer.decode()

    def expected(self):
        milli = -(-round(self.recommended * 1e6) // 1000)
        return f"{milli // 1000}" if milli % 1000 == 0 else f"{milli}m"

    def test_only_what_is_known_changes(self):
        self.assertTrue(0 < self.recommended < 7, self.recommended)
        code, out, err = self.tidetool("-", manifest=MANIFEST)
        self.assertEqual(code, 0, err)
        lines, after = MANIFEST.splitlines(), out.splitlines()
        changed = [line for line in after if line not in lines]
        self.assertEqual([line for line in lines if line not in after], ['            cpu: "8"       # a guess'])
        self.assertIn(f'            cpu: "{self.expected()}"       # a guess', changed)
        annotations = [line.strip() for line in changed if "tidemark.io/" in line]
        self.assertEqual(len(annotations), 2, changed)
        original = next(line for line in annotations if line.startswith("tidemark.io/original-resources: "))
        self.assertEqual(json.loads(original.split(": ", 1)[1].strip("'"))["app"]["requests"]["cpu"], "8")
        self.assertIn(f"Deployment shop/web app: cpu 8 -> {self.expected()}", err)
        self.assertIn("other", err)
        # What is right is left as it is.
        again = self.tidetool("-", manifest=out)
        self.assertEqual((again[0], again[1]), (0, out))
        self.assertEqual(self.tidetool("--diff", "-", manifest=out)[:2], (0, ""))

    def test_the_difference_is_a_patch(self):
        path = self.folder / "web.yaml"
        path.write_text(MANIFEST)
        code, diff, err = self.tidetool("--diff", "--quiet", str(path))
        self.assertEqual((code, err), (1, ""))
        whole = self.tidetool(str(path))[1]
        subprocess.run(["patch", "--quiet", str(path)], input=diff, text=True, check=True)
        self.assertEqual(path.read_text(), whole)
        path.write_text(MANIFEST)
        self.assertEqual(self.tidetool(f"--output.file={path}", str(path))[:2], (0, ""))
        self.assertEqual(path.read_text(), whole)

    def test_over_http_the_form_stays(self):
        status, headers, answer = self.post(MANIFEST)
        self.assertEqual((status, headers["Content-Type"], headers["Tidemark-Changed-Requests"]), (200, "application/yaml", "1"))
        self.assertEqual(answer, self.tidetool("-", manifest=MANIFEST)[1])
        pod = {"apiVersion": "v1", "kind": "List", "items": [
            {"kind": "Pod", "metadata": {"name": "web-5c9f7b6d4-x", "labels": {"pod-template-hash": "5c9f7b6d4"}, "ownerReferences": [
                {"kind": "ReplicaSet", "name": "web-5c9f7b6d4", "controller": True}]},
             "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": 8}}}]}}]}
        status, headers, answer = self.post(json.dumps(pod, indent=1), "?namespace=shop", "application/json")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
        item = json.loads(answer)["items"][0]
        self.assertEqual(item["spec"]["containers"][0]["resources"]["requests"], {"cpu": self.expected()})
        del item["metadata"]["annotations"]
        item["spec"]["containers"][0]["resources"]["requests"]["cpu"] = 8
        self.assertEqual(item, pod["items"][0])

    def test_a_report_says_what_and_why(self):
        status, _, answer = self.post(MANIFEST, "?report=true")
        self.assertEqual(status, 200)
        data = json.loads(answer)["data"]
        self.assertIs(data["changed"], True)
        (change,) = data["changes"]
        self.assertEqual({key: change[key] for key in ("document", "kind", "namespace", "name", "container", "resource", "before",
                                                       "after", "rule")},
                         {"document": 2, "kind": "Deployment", "namespace": "shop", "name": "web", "container": "app",
                          "resource": "cpu", "before": "8", "after": self.expected(), "rule": "candidate"})
        self.assertTrue(any(line["name"] == "other" for line in data["kept"]), data["kept"])

    def test_what_is_wrong_is_said(self):
        for body, query, text in (("kind: Pod\nspec: [\n", "", "line 3"), ("a: {{ .Values.x }}\nb: }\n", "", "helm template"),
                                  (MANIFEST, "?cluster=nowhere", "nowhere"), (MANIFEST, "?what=1", "what=1")):
            status, _, answer = self.post(body, query)
            self.assertIn(status, (400, 404), answer)
            self.assertEqual(json.loads(answer)["status"], "error")
            self.assertIn(text, json.loads(answer)["error"])
        self.assertEqual(self.post("#" * (4 << 20))[0], 400)
        code, out, err = self.tidetool("-", manifest="kind: Pod\nspec: [\n")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("line 3", err)
        self.assertEqual(self.tidetool("/does/not/exist.yaml")[0], 2)
        self.assertEqual(self.tidetool("-", manifest="", url=f"http://127.0.0.1:{free_port()}")[0], 3)
        self.assertEqual(self.tidetool("--dif", "-", manifest="")[0], 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
