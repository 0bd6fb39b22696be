#!/usr/bin/env python3
"""A report without a daemon: `tidetool recommend` on a real Prometheus, held against what a daemon says that took in the
same history, and against figures that are known beforehand.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool recommend_test.py
"""

import csv
import io
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from backfill_test import Proxy
from history import History, Series, container, restarts
from programs import Daemon, free_port, pack, series, wait_for

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
# "correct horse", hashed by bcrypt with cost 10.
PASSWORD_HASH = "$2y$10$a.gHQGmGJsetJ/vOswjQle3VjUUsbvHKMRNcg.h2tl4Cxi3AMostK"
HOUR = 3600
NOW = int(time.time()) // 60 * 60
START = NOW - 4 * HOUR
MIB = 1024 * 1024
PRICES = ("--price.cpu-core-hour=0.03", "--price.memory-gib-hour=0.004", "--currency=EUR")


def replicas(namespace, workload, count):
    return Series("kube_deployment_spec_replicas", {"namespace": namespace, "deployment": workload}, lambda when: count,
                  START, NOW)


def limit(namespace, workload, pod, size):
    return Series("kube_pod_container_resource_limits",
                  {"namespace": namespace, "pod": f"{workload}-5c9f7b6d4-{pod}", "container": "app", "resource": "memory",
                   "unit": "byte"}, lambda when: size, START, NOW)


def autoscaler(namespace, workload):
    labels = {"namespace": namespace, "horizontalpodautoscaler": workload + "-scaler"}
    return [Series("kube_horizontalpodautoscaler_info",
                   {**labels, "scaletargetref_kind": "Deployment", "scaletargetref_name": workload}, lambda when: 1,
                   START, NOW),
            Series("kube_horizontalpodautoscaler_spec_target_metric",
                   {**labels, "metric_name": "cpu", "metric_target_type": "utilization"}, lambda when: 80, START, NOW)]


def shop():
    """`web`, far too large, scaled; `cart`, killed for memory; `bare`, without requests; `gone`, which ended an hour ago."""
    out = container("shop", "web", "a", START, NOW, 0.2, 200 * MIB) + restarts("shop", "web", "a", START, NOW, 2, 400 * MIB)
    out += [replicas("shop", "web", 3), limit("shop", "web", "a", 800 * MIB)] + autoscaler("shop", "web")
    out += container("shop", "cart", "b", START, NOW, 0.1, 200 * MIB)
    out += restarts("shop", "cart", "b", START, NOW, 0.15, 300 * MIB, killed_at=[NOW - HOUR])
    out += [replicas("shop", "cart", 1)]
    out += container("bank", "bare", "c", START, NOW, 0.1, 100 * MIB)
    out += container("bank", "gone", "d", START, NOW - HOUR, 0.1, 100 * MIB)
    return out


def recommend(url, *arguments, **more):
    more.setdefault("timeout", 300)
    return subprocess.run([TIDETOOL, "recommend", *([f"--prometheus={url}"] if url else []), *arguments],
                          capture_output=True, **more)


def report(url, *arguments):
    result = recommend(url, "--output=json", *arguments)
    assert result.returncode == 0, result
    return json.loads(result.stdout)


def rows_of(data):
    return {(row["namespace"], row["workload_type"], row["workload"], row.get("container", "")): row for row in data["rows"]}


def cell(row, resource):
    (found,) = [one for one in row["resources"] if one["resource"] == resource]
    return found


def query(url, text, when):
    parameters = urllib.parse.urlencode({"query": text, "time": when})
    with urllib.request.urlopen(f"{url}/api/v1/query?{parameters}", timeout=60) as answer:
        return json.load(answer)["data"]["result"]


class KnownFigures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-recommend-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.prometheus = History(cls.folder, shop())
        cls.prometheus.start()
        cls.addClassCleanup(cls.prometheus.stop)

    def report(self, *arguments):
        return report(self.prometheus.url, f"--end={NOW}", "--history=4h", *arguments)

    def test_rows_severities_and_sums(self):
        data = self.report(*PRICES)
        rows = rows_of(data)
        self.assertEqual(set(rows), {("shop", "deployment", "web", "app"), ("shop", "deployment", "cart", "app"),
                                     ("bank", "deployment", "bare", "app")})
        self.assertEqual(data["workloads_without_pods"], 1)
        web = rows["shop", "deployment", "web", "app"]
        self.assertEqual((web["severity"], web["replicas"]), ("warning", 3))
        self.assertEqual(web["autoscaler"], {"name": "web-scaler", "targets": ["cpu utilization"], "by_request": True})
        cpu, memory = cell(web, "cpu"), cell(web, "memory")
        self.assertEqual((cpu["current_request"], memory["current_request"], memory["current_limit"]),
                         (2, 400 * MIB, 800 * MIB))
        self.assertGreater(cpu["recommended_request"], 0.2)
        self.assertLess(cpu["recommended_request"], 0.3)
        self.assertAlmostEqual(cpu["reclaimable"], 3 * (2 - cpu["recommended_request"]), places=9)
        self.assertAlmostEqual(cpu["savings_per_month"], cpu["reclaimable"] * 0.03 * 730, places=6)
        self.assertIn("cpu ", cpu["reason"])
        self.assertAlmostEqual(web["confidence_days"], 4 / 24, delta=0.01)
        cart = rows["shop", "deployment", "cart", "app"]
        self.assertEqual((cart["severity"], cell(cart, "memory")["kills"]), ("critical", 1))
        self.assertGreater(cell(cart, "memory")["recommended_request"], 300 * MIB)
        bare = rows["bank", "deployment", "bare", "app"]
        self.assertEqual((bare["severity"], bare["replicas"], cell(bare, "cpu")["request"]), ("warning", 1, "absent"))
        shop_totals = [one for one in data["namespaces"] if one["namespace"] == "shop"][0]
        sums = {one["resource"]: one for one in shop_totals["resources"]}
        self.assertAlmostEqual(sums["cpu"]["current_request"], 3 * 2 + 0.15, places=9)
        self.assertAlmostEqual(data["total"]["savings_per_month"],
                               sum(row.get("savings_per_month", 0) for row in data["rows"]), places=6)
        self.assertEqual(data["total"]["resources"][0]["containers"]["absent"], 1)
        self.assertEqual([row["workload"] for row in data["rows"]], ["cart", "web", "bare"])

    def test_filters_order_and_top(self):
        self.assertEqual({row["namespace"] for row in self.report("--namespace=shop")["rows"]}, {"shop"})
        self.assertEqual({row["namespace"] for row in self.report("--namespace=sh.*,nobody")["rows"]}, {"shop"})
        self.assertEqual([row["workload"] for row in self.report("--workload=deployment/w.*")["rows"]], ["web"])
        self.assertEqual([row["workload"] for row in self.report('--selector={workload!="web",namespace="shop"}')["rows"]],
                         ["cart"])
        self.assertEqual([row["workload"] for row in self.report("--sort=cpu", "--top=1")["rows"]], ["web"])
        self.assertEqual([row["workload"] for row in self.report("--sort=name")["rows"]], ["bare", "cart", "web"])
        self.assertIn("gone", [row["workload"] for row in self.report("--all")["rows"]])

    def test_only_the_namespaces_that_are_asked_for_are_queried(self):
        with Proxy(self.prometheus.url) as proxy:
            data = report(proxy.url, f"--end={NOW}", "--history=4h", "--namespace=bank")
            self.assertEqual([row["workload"] for row in data["rows"]], ["bare"])
            self.assertTrue(proxy.queries)
            self.assertFalse([text for text in proxy.queries if "shop" in text])

    def test_presets_and_configurations_are_those_of_the_daemon(self):
        vpa = rows_of(self.report("--preset=vpa"))["shop", "deployment", "web", "app"]
        own = rows_of(self.report())["shop", "deployment", "web", "app"]
        self.assertNotEqual(cell(vpa, "memory")["recommended_request"], cell(own, "memory")["recommended_request"])
        config = self.folder / "tidemark.yml"
        config.write_text(json.dumps({
            "backfill": {"url": self.prometheus.url, "external_labels": {"cluster": "eu"}, "range": "4h"},
            "prices": {"currency": "CHF", "cpu_core_hour": 1},
            "profiles": [{"name": "fixed", "selector": '{cluster="eu",namespace="shop"}', "cpu": {"floor": 1.5}}]}))
        data = report("", f"--config.file={config}", f"--end={NOW}")
        web = rows_of(data)["shop", "deployment", "web", "app"]
        self.assertEqual((web["cluster"], web["profile"], cell(web, "cpu")["recommended_request"]), ("eu", "fixed", 1.5))
        self.assertAlmostEqual(web["savings_per_month"], 3 * 0.5 * 730, places=6)
        self.assertEqual(data["prices"]["currency"], "CHF")

    def test_every_form_has_the_same_rows(self):
        arguments = (f"--end={NOW}", "--history=4h", *PRICES)
        forms = {}
        for form in ("table", "json", "csv", "markdown", "html"):
            result = recommend(self.prometheus.url, *arguments, f"--output={form}")
            self.assertEqual((result.returncode, result.stderr), (0, b""), form)
            forms[form] = result.stdout.decode()
        rows = json.loads(forms["json"])["rows"]
        table = list(csv.DictReader(io.StringIO(forms["csv"], newline="")))
        self.assertEqual(len(table), len(rows))
        for row, line in zip(rows, table):
            for key in ("namespace", "workload_type", "workload", "container", "severity"):
                self.assertEqual(line[key], row[key])
            for column, resource, key in (("cpu_request_cores", "cpu", "current_request"),
                                          ("cpu_recommended_request_cores", "cpu", "recommended_request"),
                                          ("cpu_reclaimable_cores", "cpu", "reclaimable"),
                                          ("memory_request_bytes", "memory", "current_request"),
                                          ("memory_limit_bytes", "memory", "current_limit"),
                                          ("memory_recommended_request_bytes", "memory", "recommended_request")):
                known = cell(row, resource).get(key)
                self.assertEqual(float(line[column]) if line[column] else None, known, column)
            self.assertEqual(line["cpu_reason"], cell(row, "cpu")["reason"])
        for row, text in zip(rows, forms["table"].splitlines()[1:]):
            self.assertRegex(text, rf"^{row['namespace']} +{row['workload_type']}/{row['workload']} .*{row['severity']}$")
        for form in ("table", "markdown", "html"):
            self.assertEqual(len(re.findall(r"deployment/(?:web|cart|bare)\b", forms[form])), 3, form)
            self.assertRegex(forms[form], r"2 -(?:>|&gt;) 2\d\dm", form)  # of web
        self.assertNotIn("\x1b", forms["table"])
        self.assertIn("EUR", forms["table"])

    def test_files_colours_and_terminals(self):
        path = self.folder / "report.html"
        result = recommend(self.prometheus.url, f"--end={NOW}", "--history=4h", "--output=html", f"--output.file={path}")
        self.assertEqual((result.returncode, result.stdout), (0, b""), result)
        self.assertTrue(path.read_text().startswith("<!DOCTYPE html>"))
        nowhere = recommend(self.prometheus.url, f"--end={NOW}", "--history=4h", "--output.file=/nowhere/at/all")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn(b"cannot be written", nowhere.stderr)
        colored = recommend(self.prometheus.url, f"--end={NOW}", "--history=4h", "--color=always")
        self.assertIn(b"\x1b[1;31mcritical", colored.stdout)
        for environment, expected in ({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False):
            with self.subTest(environment):
                self.assertEqual(b"\x1b[1;31m" in self.on_a_terminal(environment), expected)

    def on_a_terminal(self, environment):
        """What stdout shows where it is a terminal."""
        master, slave = pty.openpty()
        known = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
        process = subprocess.Popen([TIDETOOL, "recommend", f"--prometheus={self.prometheus.url}", f"--end={NOW}",
                                    "--history=4h"], stdout=slave, stderr=subprocess.DEVNULL,
                                   env={**known, "TERM": "xterm", **environment})
        os.close(slave)
        out = b""
        try:
            while piece := os.read(master, 65536):
                out += piece
        except OSError:
            pass  # the other side has ended
        os.close(master)
        self.assertEqual(process.wait(60), 0)
        return out

    def test_progress_is_told_where_it_is_wanted(self):
        with Proxy(self.prometheus.url) as proxy:
            proxy.delay = 0.02
            arguments = (f"--end={NOW}", "--history=4h")
            quiet = recommend(proxy.url, *arguments)
            self.assertEqual((quiet.returncode, quiet.stderr), (0, b""))
            told = recommend(proxy.url, *arguments, "--progress")
            self.assertEqual(told.returncode, 0)
            self.assertRegex(told.stderr.decode(), r"(?s)\d+ queries.*done: [1-9]\d+ queries, [1-9]\d+ samples\n$")
            self.assertEqual(told.stdout, quiet.stdout)

    def test_sigint_ends_it_soon_and_cleanly(self):
        with Proxy(self.prometheus.url) as proxy:
            proxy.delay = 30
            process = subprocess.Popen([TIDETOOL, "recommend", f"--prometheus={proxy.url}", f"--end={NOW}"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_for("a query hangs", lambda: proxy.queries)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - begin, 20)
            self.assertEqual((process.returncode, out), (130, b""))
            self.assertEqual(err, b"tidetool recommend: interrupted\n")

    def test_what_is_wrong_is_named(self):
        for url, arguments, code, texts in (
                ("", (), 2, ["--prometheus: it is missing"]),
                ("nowhere", (), 2, ["--prometheus: ", "http://"]),
                (self.prometheus.url, ("--histroy=7d",), 2, ["did you mean --history"]),
                (self.prometheus.url, ("--sort=savings",), 2, ["without prices"]),
                (f"http://127.0.0.1:{free_port()}", (), 1, ["unreachable: Connection refused"]),
                (self.prometheus.url + "/wrong/prefix", (f"--end={NOW}",), 1, ["404"]),
                (self.prometheus.url, ("--end=2020-01-01T00:00:00Z",), 1,
                 ["missing metrics: container_cpu_usage_seconds_total", "kube_pod_owner", "check that:"]),
                (self.prometheus.url, (f"--end={NOW}", "--namespace=nobody"), 1,
                 ["no namespace matches", "bank", "shop"]),
                (self.prometheus.url, (f"--end={NOW}", "--workload=nobody"), 1, ["no workload matches"]),
                (self.prometheus.url, (f"--end={NOW}", "--workload=gone"), 1, ["--all shows them"]),
        ):
            with self.subTest(url=url, arguments=arguments):
                begin = time.monotonic()
                result = recommend(url, *arguments)
                self.assertEqual((result.returncode, result.stdout), (code, b""), result)
                for text in texts:
                    self.assertIn(text, result.stderr.decode())
                self.assertLess(time.monotonic() - begin, 60)

    def test_a_query_that_fails_is_told_and_the_rest_shown(self):
        damaged = (422, b'{"status":"error","errorType":"execution","error":"a block is corrupted"}')
        with Proxy(self.prometheus.url) as proxy:
            proxy.instead = lambda path, parameters: damaged if (
                path.endswith("query_range") and "memory_working_set" in parameters["query"]) else None
            result = recommend(proxy.url, f"--end={NOW}", "--history=4h", "--output=json")
            self.assertEqual(result.returncode, 1, result)
            data = json.loads(result.stdout)
            self.assertTrue(any("a block is corrupted" in line for line in data["warnings"]), data["warnings"])
            self.assertIn("warning: container_memory_working_set_bytes", result.stderr.decode())
            self.assertIn("recommended_request", cell(rows_of(data)["shop", "deployment", "web", "app"], "cpu"))


class OtherServers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-recommend-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def test_access(self):
        web = container("shop", "web", "a", NOW - 2 * HOUR, NOW, 0.2, 200 * MIB)
        password = self.folder / "password"
        password.write_text("correct horse\n")
        with History(self.folder, web, web_config={"basic_auth_users": {"me": PASSWORD_HASH}}) as prometheus:
            arguments = (f"--end={NOW}", "--history=1h", "--output=json")
            good = recommend(prometheus.url, *arguments, "--username=me", f"--password-file={password}")
            self.assertEqual(good.returncode, 0, good)
            self.assertEqual(len(json.loads(good.stdout)["rows"]), 1)
            # Nobody tells requests here: said, and no failure.
            self.assertIn(b"kube_pod_container_resource_requests: no series now", good.stderr)
            for more in ((), ("--username=you", f"--password-file={password}")):
                bad = recommend(prometheus.url, *arguments, *more)
                self.assertEqual((bad.returncode, bad.stdout), (1, b""), bad)
                self.assertIn(b"401", bad.stderr)

    def test_an_empty_server_and_one_without_owners(self):
        other = [Series("up", {"job": "x"}, lambda when: 1, NOW - 2 * HOUR, NOW)]
        with History(self.folder, other) as prometheus:
            result = recommend(prometheus.url, f"--end={NOW}", "--history=1h")
            self.assertEqual((result.returncode, result.stdout), (1, b""), result)
            for text in ("missing metrics: container_cpu_usage_seconds_total", "check that:", "kube_pod_owner", "sources"):
                self.assertIn(text, result.stderr.decode())
        folder = self.folder / "second"
        folder.mkdir()
        ownerless = [one for one in container("shop", "web", "a", NOW - 2 * HOUR, NOW, 0.2, 200 * MIB)
                     if not one.name.startswith("kube_")]
        with History(folder, ownerless) as prometheus:
            result = recommend(prometheus.url, f"--end={NOW}", "--history=1h")
            self.assertEqual((result.returncode, result.stdout), (1, b""), result)
            self.assertIn("nobody tells which workloads it is of", result.stderr.decode())
            self.assertIn("kube_pod_owner: no series now", result.stderr.decode())

    def test_labels_that_were_moved_aside(self):
        def aside(one):
            labels = {("exported_" + name if name in ("namespace", "pod", "container") else name): value
                      for name, value in one.labels.items()}
            return Series(one.name, {**labels, "namespace": "monitoring", "pod": "ksm-0"}, one.value, one.first, one.last)
        first = NOW - 2 * HOUR
        moved = [aside(one) if one.name.startswith("kube_") else one for one in
                 container("shop", "web", "a", first, NOW, 0.2, 200 * MIB) + restarts("shop", "web", "a", first, NOW, 1, 512 * MIB)]
        with History(self.folder, moved) as prometheus:
            (row,) = report(prometheus.url, f"--end={NOW}", "--history=1h")["rows"]
            self.assertEqual((row["workload"], cell(row, "cpu")["current_request"]), ("web", 1))


class AsTheDaemon(unittest.TestCase):
    """The history of the demo cluster: what the report says is what a daemon says."""

    HISTORY = "6h"

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-recommend-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        text = cls.folder / "history.om"
        cluster = subprocess.Popen(
            [TIDETOOL, "demo-cluster", f"--web.listen-address=127.0.0.1:{free_port()}", f"--history.file={text}",
             f"--history.length={cls.HISTORY}", "--history.step=2m", "--speed=10"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for("the history is written", lambda: text.exists() and text.read_bytes()[-6:] == b"# EOF\n", 300)
        finally:
            cluster.kill()
            cluster.wait()
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", str(text),
                        str(cls.folder / "tsdb")], check=True, capture_output=True)
        text.unlink()
        cls.prometheus = History(cls.folder, [])
        cls.prometheus.start()
        cls.addClassCleanup(cls.prometheus.stop)
        (newest,) = query(cls.prometheus.url, "max(timestamp(container_memory_working_set_bytes))", time.time())
        cls.end = int(float(newest["value"][1])) // 60 * 60

    def live(self, daemon):
        """What a Prometheus would have sent at the end of the history."""
        found = query(self.prometheus.url, '{__name__!="",job!=""}', self.end)
        self.assertGreater(len(found), 500)
        for begin in range(0, len(found), 2000):
            body = b"".join(series(one["metric"], float(one["value"][1]), self.end * 1000)
                            for one in found[begin:begin + 2000])
            self.assertEqual(daemon.write(pack(body))[0], 204)

    def test_the_report_is_what_the_daemon_says(self):
        data = report(self.prometheus.url, f"--end={self.end}", f"--history={self.HISTORY}", "--all", *PRICES)
        self.assertGreater(len(data["rows"]), 30)
        config = json.dumps({"prices": {"currency": "EUR", "cpu_core_hour": 0.03, "memory_gib_hour": 0.004}})
        with Daemon(config, flags=[f"--clock.start={self.end * 1000 + 1000}"]) as daemon:
            start = self.end - 6 * HOUR
            done = subprocess.run([TIDETOOL, "backfill", f"--tidemark=http://127.0.0.1:{daemon.port}",
                                   f"--prometheus={self.prometheus.url}", f"--start={start}", f"--end={self.end}"],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done)
            self.live(daemon)
            daemon.wait_for_tick()
            answer = self.answer(daemon)
            (savings,) = [value for (name, labels), value in daemon.metrics().items()
                          if name == "tidemark_namespace_savings_per_month" and ("namespace", "shop") in labels] or [None]
        said = {}
        for item in answer["recommendations"]:
            key = (item["namespace"], item["workload_type"], item["workload"], item.get("container", ""), item["resource"])
            said[key] = item
        reported = {}
        for row in data["rows"]:
            for one in row["resources"]:
                key = (row["namespace"], row["workload_type"], row["workload"], row.get("container", ""), one["resource"])
                reported[key] = {**one, "replicas": row["replicas"]}
        self.assertEqual(set(reported), set(said))
        for key, item in said.items():
            for name in ("recommended_request", "model_request", "lower_bound", "upper_bound", "current_request",
                         "current_limit", "original_request", "reclaimable", "replicas", "confidence_days", "samples",
                         "kills", "savings_per_month", "reason"):
                self.assertEqual(reported[key].get(name), item.get(name), (key, name))
        for one, other in zip(data["total"]["resources"], answer["summary"]["resources"]):
            self.assertEqual(one["containers"], other["containers"])
            self.assertAlmostEqual(one["reclaimable"] / other["reclaimable"], 1, places=9)
        self.assertTrue(any(item.get("current_request") for item in said.values()))
        self.assertTrue(any(item.get("kills") for item in said.values()))
        (shop_totals,) = [one for one in data["namespaces"] if one["namespace"] == "shop"] or [None]
        self.assertAlmostEqual(shop_totals["savings_per_month"] / savings, 1, places=9)

    def answer(self, daemon):
        body = json.loads(daemon.get("/api/v1/recommendations?limit=10000")[2])["data"]
        self.assertGreater(sum("current_request" in item for item in body["recommendations"]), 30)
        return body


if __name__ == "__main__":
    unittest.main()
