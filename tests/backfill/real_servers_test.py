#!/usr/bin/env python3
"""The back-fill against real servers: what a Prometheus (and, where it is installed, a VictoriaMetrics) answers, its
limits, its passwords, its TLS.

usage: BACKFILL_PROBE=build/release/bin/backfill_probe real_servers_test.py
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from history import History, Victoria, container  # noqa: E402
from programs import free_port  # noqa: E402

PROBE = os.environ.get("BACKFILL_PROBE", "build/release/bin/backfill_probe")
HOUR = 3600
END = int(time.time()) // 60 * 60 - 2 * HOUR
START = END - 6 * HOUR
GONE = START + 2 * HOUR  # when a pod of "shop" ended
SERIES = (container("shop", "web", "aaaaa", START - HOUR, END + HOUR, 0.25, 3e8)
          + container("shop", "web", "bbbbb", START - HOUR, GONE, 0.5, 4e8)
          + container("we.ird", "db", "ccccc", START - HOUR, END + HOUR, 1.5, 5e9))
PASSWORD = "correct horse"
PASSWORD_HASH = "$2y$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2"


def probe(url, **more):
    arguments = {"url": url, "start_ms": START * 1000, "end_ms": END * 1000, **more}
    result = subprocess.run([PROBE, *(f"{key}={value}" for key, value in arguments.items())],
                            capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


class RealServers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-backfill-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)

    def samples_of(self, result, name, pod):
        (found,) = [points for series, points in result["series"].items()
                    if series.startswith(name + "{") and pod in series]
        return found

    def check_whole(self, result):
        self.assertEqual(result["error"], "")
        self.assertEqual(result["state"], "finished")
        self.assertEqual(result["faults"], [])
        self.assertEqual(result["not_covered"], [])
        names = sorted(series.split("{")[0] for series in result["series"])
        self.assertEqual(names, ["container_cpu_usage_seconds_total"] * 3
                         + ["container_memory_working_set_bytes"] * 3 + ["kube_pod_owner"] * 3)
        cpu = self.samples_of(result, "container_cpu_usage_seconds_total", "aaaaa")
        self.assertEqual([when for when, _ in cpu], list(range(START * 1000, END * 1000 + 1, 60_000)))
        for when, value in cpu:
            scraped = when / 1000 - (when / 1000 - (START - HOUR)) % 15
            self.assertAlmostEqual(value, 1000 + 0.25 * (scraped - (START - HOUR)), places=6)
        memory = self.samples_of(result, "container_memory_working_set_bytes", "ccccc")
        self.assertEqual({value for _, value in memory}, {5e9})
        # The last value is repeated for at most the five minutes of the look-back.
        gone = self.samples_of(result, "container_cpu_usage_seconds_total", "bbbbb")
        self.assertGreaterEqual(gone[-1][0], GONE * 1000 - 60_000)
        self.assertLessEqual(gone[-1][0], (GONE + 300) * 1000)

    def test_prometheus_gives_every_minute_of_every_container(self):
        with History(self.folder, SERIES) as history:
            self.check_whole(probe(history.url))

    def test_its_limit_on_samples_makes_windows_shorter(self):
        with History(self.folder, SERIES, ["--query.max-samples=100"]) as history:
            result = probe(history.url)
            self.check_whole(result)
            self.assertGreater(result["queries_too_large"], 0)

    def test_a_limit_that_nothing_fits_under_is_said(self):
        with History(self.folder, SERIES, ["--query.max-samples=3"]) as history:
            result = probe(history.url)
            self.assertEqual(result["state"], "finished")
            for series, points in result["series"].items():
                self.assertLessEqual(len(points), 3, series)  # of a last window that was short enough
            self.assertTrue(result["not_covered"])
            for line in result["not_covered"]:
                self.assertIn("too many samples", line)

    def test_victoriametrics_gives_the_same(self):
        if shutil.which("victoria-metrics") is None:
            self.skipTest("victoria-metrics is not installed")
        with Victoria(self.folder, SERIES) as history:
            self.check_whole(probe(history.url))

    def test_passwords(self):
        with History(self.folder, SERIES,
                     web_config={"basic_auth_users": {"tidemark": PASSWORD_HASH}}) as history:
            denied = probe(history.url)
            self.assertEqual(denied["state"], "failed")
            self.assertIn("answered 401", denied["error"])
            password = self.folder / "password"
            password.write_text("wrong\n")
            self.assertIn("answered 401",
                          probe(history.url, username="tidemark", password_file=password)["error"])
            password.write_text(PASSWORD + "\n")
            self.check_whole(probe(history.url, username="tidemark", password_file=password))

    def test_tls(self):
        key, certificate = self.folder / "tls.key", self.folder / "tls.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=prometheus.internal", "-addext",
                        "subjectAltName=DNS:prometheus.internal", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        with History(self.folder, SERIES, scheme="https", web_config={
                "tls_server_config": {"cert_file": str(certificate), "key_file": str(key)}}) as history:
            untrusted = probe(history.url)
            self.assertEqual(untrusted["state"], "failed")
            self.assertIn("TLS failed", untrusted["error"])
            misnamed = probe(history.url, ca_file=certificate)
            self.assertIn("tls_config.server_name", misnamed["error"])
            self.check_whole(probe(history.url, ca_file=certificate, server_name="prometheus.internal"))
            plain = probe(history.url.replace("https", "http"))
            self.assertIn("HTTP request to an HTTPS server", plain["error"])

    def test_nobody_there(self):
        result = probe(f"http://127.0.0.1:{free_port()}")
        self.assertEqual(result["state"], "failed")
        self.assertIn("unreachable", result["error"])

    def test_a_server_without_the_metrics(self):
        with History(self.folder, SERIES) as history:
            result = probe(history.url, start_ms=(START - 400 * HOUR) * 1000, end_ms=(START - 390 * HOUR) * 1000)
            self.assertEqual(result["state"], "failed")
            self.assertIn("missing metrics: container_cpu_usage_seconds_total{}", result["error"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
