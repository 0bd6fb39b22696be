#!/usr/bin/env python3
"""tidetool loadgen into the real daemon: what it makes up is a cluster that recommendations can be made of.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool loadgen_test.py
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import urllib.request

from programs import wait_for

TIDEMARK = os.environ.get("TIDEMARK_BIN", "build/release/bin/tidemark")
TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")


class Load(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        log = os.path.join(folder.name, "log")
        with open(log, "w") as out:
            daemon = subprocess.Popen([TIDEMARK, "--web.listen-address=127.0.0.1:0", "--eval.interval=200ms",
                                       f"--storage.path={folder.name}/data"], stderr=out)
        self.addCleanup(daemon.wait, 60)
        self.addCleanup(daemon.terminate)
        self.url = "http://" + wait_for("tidemark listens", lambda: re.search(
            r"msg=listening address=(\S+)", pathlib.Path(log).read_text())).group(1)

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def load(self, *arguments, code=0):
        run = subprocess.run([TIDETOOL, "loadgen", f"--url={self.url}/api/v1/write", "--output=json", *arguments],
                             text=True, capture_output=True, timeout=200)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return json.loads(run.stdout)

    def test_it_becomes_recommendations(self):
        # As in docs/benchmarks.md.
        report = self.load("--containers=300", "--rounds=24", "--churn=2")
        self.assertEqual(report["containers"], 300)
        self.assertGreater(report["pods_replaced"], 0)
        self.assertEqual(report["samples_acknowledged"], 24 * report["series"])
        page = self.get("/metrics")
        self.assertIn(f"tidemark_remote_write_samples_accepted_total {report['samples_sent']}\n", page)
        self.assertIsNone(re.search(r"^tidemark_remote_write_samples_(ignored|rejected)_total\{.*\} [1-9]", page, re.M))

        def values(name):
            return dict(re.findall(name + r"\{(.*)\} (\S+)$", self.get("/metrics"), re.M))

        def everything():
            recommended = values("^tidemark_recommended_request")
            return recommended if recommended.keys() == values("^tidemark_current_request").keys() else None

        # Whatever has a request has a recommendation: CPU and memory of every container of every Deployment.
        recommended = wait_for("recommendations", everything)
        self.assertGreater(len(recommended), 100)
        for labels, value in recommended.items():
            self.assertIn('workload_type="deployment"', labels)
            self.assertGreater(float(value), 0)

    def test_a_second_run_goes_on_with_the_first(self):
        start = int(time.time() * 1000) - 300_000
        first = self.load("--containers=50", "--rounds=2", f"--start={start}")
        self.load("--containers=50", "--rounds=2", f"--start={start + 30_000}")
        page = self.get("/metrics")
        self.assertIn(f"tidemark_remote_write_series {first['series']}\n", page)

    def test_what_is_not_taken_is_exit_code_1(self):
        report = self.load("--containers=5", "--rounds=1", "--start=9999999999999", code=1)
        self.assertEqual(report["samples_acknowledged"], 0)
        self.assertIn("too_far_in_future", report["first_refusal"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
