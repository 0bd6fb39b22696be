#!/usr/bin/env python3
"""The configuration is read again: by SIGHUP and by POST, all or nothing, with what came of it in the metrics.

usage: TIDEMARK_BIN=build/release/bin/tidemark reload_test.py
"""

import base64
import concurrent.futures
import json
import os
import pathlib
import signal
import tempfile
import time
import unittest

from programs import Daemon, wait_for

SUCCESSFUL = ("tidemark_config_last_reload_successful", frozenset())
SUCCESS_TIME = ("tidemark_config_last_reload_success_timestamp_seconds", frozenset())
FIRST = """\
estimation: {cpu: {percentile: 0.9}}
limits: {max_series: 1000}
"""
SECOND = """\
estimation: {cpu: {percentile: 0.95}}
limits: {max_series: 1000}
profiles:
  - {name: shared, selector: '{namespace=~"shop|cart"}', preset: oversell}
compat: {vpa_metrics: true}
"""
# "correct horse", hashed by bcrypt with cost 10.
PASSWORD_HASH = "$2y$10$a.gHQGmGJsetJ/vOswjQle3VjUUsbvHKMRNcg.h2tl4Cxi3AMostK"


def basic(password):
    return {"Authorization": "Basic " + base64.b64encode(f"operator:{password}".encode()).decode()}


RIGHT, WRONG = basic("correct horse"), basic("wrong")


def replace(path, content):
    """Writes the file whole, as a mounted ConfigMap changes."""
    pathlib.Path(path + ".new").write_text(content)
    os.rename(path + ".new", path)


class Reload(unittest.TestCase):
    def yaml(self, daemon):
        status, _, body = daemon.get("/api/v1/status/config")
        self.assertEqual(status, 200)
        return json.loads(body)["data"]["yaml"]

    def post(self, daemon, headers=(), method="POST"):
        status, _, body = daemon.request(method, "/-/reload", headers)
        return status, body.decode()

    def assert_refused(self, daemon, reason):
        """A POST is, and all stays as it was."""
        before, at = self.yaml(daemon), daemon.metrics()[SUCCESS_TIME]
        status, body = self.post(daemon)
        self.assertEqual(status, 500, body)
        self.assertTrue(body.startswith("failed to reload config: "), body)
        self.assertIn(reason, body)
        self.assertEqual(body.count("\n"), 1)
        metrics = daemon.metrics()
        self.assertEqual(metrics[SUCCESSFUL], 0)
        self.assertEqual(metrics[SUCCESS_TIME], at)
        self.assertEqual(self.yaml(daemon), before)
        wait_for(lambda: f"an error in the log: {reason}\n{daemon.last_log()}",
                 lambda: any("level=error" in line and reason in line for line in daemon.log))

    def test_good_ones_take_effect_by_signal_and_by_post(self):
        with Daemon(FIRST) as daemon:
            started = daemon.metrics()
            self.assertEqual(started[SUCCESSFUL], 1)
            self.assertAlmostEqual(started[SUCCESS_TIME], time.time(), delta=120)
            self.assertIn("percentile: 0.9\n", self.yaml(daemon))

            replace(daemon.config, SECOND)
            self.assertIn("profiles: []\n", self.yaml(daemon))  # not before it is asked for
            daemon.process.send_signal(signal.SIGHUP)
            wait_for("the second configuration", lambda: 'name: "shared"\n' in self.yaml(daemon))
            self.assertIn("vpa_metrics: true\n", self.yaml(daemon))
            self.assertGreater(daemon.metrics()[SUCCESS_TIME], started[SUCCESS_TIME])

            replace(daemon.config, FIRST)
            self.assertEqual(self.post(daemon), (200, ""))
            self.assertIn("profiles: []\n", self.yaml(daemon))
            self.assertIn("vpa_metrics: false\n", self.yaml(daemon))
            self.assertEqual(self.post(daemon, method="PUT"), (200, ""))
            self.assertEqual(daemon.metrics()[SUCCESSFUL], 1)
            wait_for("the log says so", lambda: any("the configuration was read again" in line for line in daemon.log))
            self.assertEqual(daemon.get("/-/ready")[0], 200)

    def test_bad_ones_change_nothing(self):
        with Daemon(SECOND) as daemon:
            for content, reason in (
                    (SECOND + "foo: 1\n", "tidemark.yml:6: foo: there is no such key"),
                    (SECOND.replace("oversell", "oversold"), "there is no preset oversold (did you mean oversell?)"),
                    (SECOND.replace("0.95", "1.5"), "1.5 is out of range"),
                    (SECOND[:120], "this is not YAML"),
                    ("", "the file is empty"),
                    ("\0\0\0\0", "the byte 0x00 is not text"),
                    (SECOND.replace("1000", "2000"), "limits: changed, which needs a restart"),
                    (SECOND.replace("0.95", "0.5") + "storage: {min_free: 1GB}\nremote_write: {late: refuse}\n",
                     "remote_write, storage: changed, which needs a restart")):
                with self.subTest(reason):
                    replace(daemon.config, content)
                    self.assert_refused(daemon, reason)
            os.unlink(daemon.config)
            self.assert_refused(daemon, "the file cannot be read: No such file or directory")

            # By signal too.
            replace(daemon.config, FIRST)
            self.assertEqual(self.post(daemon)[0], 200)
            replace(daemon.config, "junk")
            daemon.process.send_signal(signal.SIGHUP)
            wait_for("the failure in the metrics", lambda: daemon.metrics()[SUCCESSFUL] == 0)
            self.assertIn("percentile: 0.9\n", self.yaml(daemon))
            replace(daemon.config, SECOND)
            daemon.process.send_signal(signal.SIGHUP)
            wait_for("the recovery in the metrics", lambda: daemon.metrics()[SUCCESSFUL] == 1)
            self.assertEqual(daemon.stop(), 0)

    def test_only_post_and_put_reload(self):
        with Daemon(FIRST) as daemon:
            replace(daemon.config, "junk")
            for method in ("GET", "HEAD", "DELETE"):
                status, headers, _ = daemon.request(method, "/-/reload")
                self.assertEqual(status, 405)
                self.assertEqual(headers["Allow"], "POST, PUT")
            self.assertEqual(daemon.metrics()[SUCCESSFUL], 1)

    def test_ten_at_once_all_come_to_the_same(self):
        with Daemon(FIRST) as daemon, concurrent.futures.ThreadPoolExecutor(10) as pool:
            for content, expected in ((SECOND, 200), ("junk", 500), (FIRST, 200)):
                replace(daemon.config, content)
                answers = list(pool.map(lambda _: self.post(daemon)[0], range(10)))
                self.assertEqual(answers, [expected] * 10)
                self.assertEqual(daemon.metrics()[SUCCESSFUL], expected == 200)
            self.assertIn("profiles: []\n", self.yaml(daemon))
            # A failure that repeats is not logged each time.
            self.assertLess(sum("is not taken over" in line for line in daemon.log), 4)

    def test_the_users_of_the_web_configuration_are_asked_for(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-reload-") as folder:
            web = os.path.join(folder, "web.yml")
            replace(web, json.dumps({"basic_auth_users": {"operator": PASSWORD_HASH}}))
            with Daemon(FIRST, flags=(f"--web.config.file={web}",), headers=RIGHT) as daemon:
                self.check_users(daemon, web)

    def check_users(self, daemon, web):
        replace(daemon.config, SECOND)
        for headers in ({}, WRONG):
            self.assertEqual(self.post(daemon, headers)[0], 401)
        self.assertIn("profiles: []\n", self.yaml(daemon))
        self.assertEqual(self.post(daemon, RIGHT), (200, ""))
        self.assertIn('name: "shared"\n', self.yaml(daemon))

        # The web configuration is read with it, also when the main file is refused; and what is said when only it is bad.
        replace(daemon.config, "junk")
        replace(web, json.dumps({"basic_auth_users": {}}))
        daemon.process.send_signal(signal.SIGHUP)
        wait_for("the open door", lambda: daemon.request("GET", "/-/ready")[0] == 200)
        wait_for("the failure in the metrics", lambda: daemon.metrics()[SUCCESSFUL] == 0)
        replace(daemon.config, FIRST)
        replace(web, "junk")
        status, body = self.post(daemon)
        self.assertEqual(status, 500)
        self.assertIn("the configuration was applied, but web configuration", body)
        self.assertEqual(daemon.metrics()[SUCCESSFUL], 1)
        self.assertIn("profiles: []\n", self.yaml(daemon))

    def test_without_a_file_there_is_nothing_to_change(self):
        with Daemon(None) as daemon:
            before = self.yaml(daemon)
            self.assertEqual(self.post(daemon), (200, ""))
            daemon.process.send_signal(signal.SIGHUP)
            self.assertEqual(self.post(daemon), (200, ""))
            self.assertEqual(self.yaml(daemon), before)
            self.assertEqual(daemon.metrics()[SUCCESSFUL], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
