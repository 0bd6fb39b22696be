#!/usr/bin/env python3
"""How many replicas: a real Prometheus scrapes a demo cluster whose autoscalers tell the bounds, and gets targets back; and
minutes by remote write, whose decisions are worked out here once more.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool scaling_test.py
"""

import csv
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse

from programs import Daemon, free_port, get, pack, series, total, wait_for

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
# Two whole minutes must pass before the first demand.
PATIENCE_SECONDS = 400
MINUTE = 60
# Scaled in the demo cluster (cmd/demo_cluster/catalog.cpp).
CHECKOUT = {"namespace": "shop", "workload_type": "deployment", "workload": "checkout"}
WEB = {"namespace": "shop", "workload_type": "deployment", "workload": "web"}


def selector(**labels):
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


def scaling_of(daemon, workload):
    status, _, body = daemon.get("/api/v1/workloads/{namespace}/{workload_type}/{workload}".format(**workload))
    if status != 200:
        return None
    return json.loads(body)["data"]["workloads"][0].get("scaling")


class BehindPrometheus(unittest.TestCase):
    """Its tests are the chapters of one story, in the order of their names."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tidemark-scaling-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.children = []
        cls.addClassCleanup(cls.stop_all)
        cls.daemon = Daemon("{}", listen=free_port())
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.__enter__()
        cluster, prometheus = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        cls.prometheus_url = "http://" + prometheus
        config = pathlib.Path(cls.folder.name, "prometheus.yml")
        target = f"127.0.0.1:{cls.daemon.port}"
        config.write_text(json.dumps({  # YAML is a superset
            "global": {"scrape_interval": "5s", "scrape_timeout": "5s", "evaluation_interval": "5s"},
            "scrape_configs": [
                {"job_name": "cluster", "honor_labels": True, "static_configs": [{"targets": [cluster]}]},
                {"job_name": "tidemark", "honor_labels": True, "static_configs": [{"targets": [target]}]}],
            "remote_write": [{"url": f"http://{target}/api/v1/write",
                              "queue_config": {"batch_send_deadline": "1s"}}]}))
        cls.start("cluster", [TIDETOOL, "demo-cluster", f"--web.listen-address={cluster}"])
        cls.start("prometheus", [
            "prometheus", f"--config.file={config}", "--log.level=warn", "--storage.remote.flush-deadline=2s",
            f"--storage.tsdb.path={cls.folder.name}/tsdb", f"--web.listen-address={prometheus}"])

    @classmethod
    def start(cls, name, command):
        with open(os.path.join(cls.folder.name, name + ".log"), "w") as log:
            cls.children.append(subprocess.Popen(command, stdout=log, stderr=log))

    @classmethod
    def stop_all(cls):
        for child in reversed(cls.children):
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(20)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()

    @classmethod
    def query(cls, expression):
        """Instant query: list of (labels, value)."""
        try:
            data = json.loads(get(f"{cls.prometheus_url}/api/v1/query?" + urllib.parse.urlencode({"query": expression})))
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it reads its own state
                return []
            raise AssertionError(error.read().decode()) from error  # a wrong query
        except OSError:
            return []  # not up yet
        return [(row["metric"], float(row["value"][1])) for row in data["data"]["result"]]

    def value(self, expression, seconds=120):
        """Of the one series that comes back from Prometheus."""
        (row,) = wait_for(expression, lambda: self.query(expression), seconds)
        return row[1]

    def test_1_targets_come_back_within_the_bounds_of_the_autoscaler(self):
        of = selector(**CHECKOUT)
        target = self.value("tidemark_target_replicas" + of, PATIENCE_SECONDS)
        told = '{namespace="shop",horizontalpodautoscaler="checkout"}'
        low = self.value("tidemark_min_replicas" + of)
        high = self.value("tidemark_max_replicas" + of)
        self.assertEqual(low, self.value("kube_horizontalpodautoscaler_spec_min_replicas" + told))
        self.assertEqual(high, self.value("kube_horizontalpodautoscaler_spec_max_replicas" + told))
        self.assertTrue(low <= target <= high, (low, target, high))
        self.assertEqual(target, round(target))
        self.assertTrue(low <= self.value("tidemark_current_replicas" + of) <= high)
        (mode,) = wait_for("the mode", lambda: self.query("tidemark_scaling_mode" + of), 120)
        self.assertIn(mode[0]["mode"], ("reactive", "predictive"))
        # Both of the cluster's autoscalers, and nothing that has none.
        rows = wait_for("both targets", lambda: (
            lambda rows: rows if len(rows) > 1 else None)(self.query("tidemark_target_replicas")), 240)
        self.assertEqual({labels["workload"] for labels, _ in rows}, {"checkout", "search"})

    def test_2_a_kill_keeps_what_was_decided(self):
        def decided():
            scaling = scaling_of(self.daemon, CHECKOUT)
            return scaling if scaling and scaling.get("decision") else None

        before = wait_for("a decision", decided, 240)
        self.daemon.kill()
        self.daemon.start()
        after = decided()
        self.assertIsNotNone(after, scaling_of(self.daemon, CHECKOUT))
        if after["minute"] == before["minute"]:
            self.assertEqual(after["decision"], before["decision"])
        else:  # minutes that came in between the look and the kill
            self.assertGreater(after["minute"], before["minute"])
        # And it goes on.
        wait_for("another minute", lambda: decided() and decided()["minute"] > after["minute"], 240)
        self.assertGreater(self.value("tidemark_target_replicas" + selector(**CHECKOUT)), 0)


class Stream:
    """Minutes of a Deployment whose replicas follow no decision: what is decided is a function of what is sent."""

    REQUEST = 0.5  # cores of one pod
    LOW, HIGH = 2, 12

    def __init__(self, start, minutes):
        noise = random.Random(20261202)
        self.start = start
        # Multiples of 1/1024 of a core: no counter rounds them.
        self.cores = [round(1024 * (2 + 1.2 * math.sin(minute / 20) + 0.3 * noise.random())) / 1024
                      for minute in range(minutes)]
        self.replicas = [6 + minute // 40 % 3 for minute in range(minutes)]
        self.sent = 0
        self.spent = 0.0

    def body(self):
        """What is said at the end of the next minute."""
        when = self.start + self.sent * MINUTE
        at = max(0, self.sent - 1)
        if self.sent > 0:
            self.spent += self.cores[at] * MINUTE
        self.sent += 1
        pod = {"namespace": "shop", "pod": "web-5c9f7b6d4-aaaaa"}
        scaled = {"namespace": "shop", "horizontalpodautoscaler": "web"}
        return [series({"__name__": metric, **labels}, value, when * 1000) for metric, labels, value in (
            ("container_cpu_usage_seconds_total", {**pod, "container": "app", "cpu": "total", "id": "/a"}, self.spent),
            ("kube_pod_owner", {**pod, "owner_kind": "ReplicaSet", "owner_name": "web-5c9f7b6d4",
                                "owner_is_controller": "true"}, 1),
            ("kube_pod_container_resource_requests",
             {**pod, "container": "app", "resource": "cpu", "unit": "core"}, self.REQUEST),
            ("kube_replicaset_owner", {"namespace": "shop", "replicaset": "web-5c9f7b6d4", "owner_kind": "Deployment",
                                       "owner_name": "web"}, 1),
            ("kube_deployment_spec_replicas", {"namespace": "shop", "deployment": "web"}, self.replicas[at]),
            ("kube_horizontalpodautoscaler_info", {**scaled, "scaletargetref_kind": "Deployment",
                                                   "scaletargetref_name": "web"}, 1),
            ("kube_horizontalpodautoscaler_spec_min_replicas", scaled, self.LOW),
            ("kube_horizontalpodautoscaler_spec_max_replicas", scaled, self.HIGH))]

    def send(self, daemon, minutes):
        for _ in range(minutes):
            status, _, answer = daemon.write(pack(b"".join(self.body())))
            if status != 204:
                raise AssertionError((status, answer))

    def newest(self):
        """Start of the newest minute whose demand is known, and its place."""
        return self.start + (self.sent - 2) * MINUTE, self.sent - 2


def stock_formula(stream, target=0.5, tolerance=0.1, window=5):
    """The target of each minute: Kubernetes' formula, and the highest of the last minutes; before the first stand the
    replicas that there are."""
    recommended = [stream.replicas[0]]
    targets = []
    for cores, replicas in zip(stream.cores, stream.replicas):
        ratio = cores / (replicas * stream.REQUEST) / target
        wanted = replicas if abs(ratio - 1) <= tolerance else math.ceil(replicas * ratio - 1e-9)
        recommended.append(min(max(wanted, stream.LOW), stream.HIGH))
        targets.append(max(recommended[-window:]))
    return targets


class Decisions(unittest.TestCase):
    CONFIG = "scaling: {workloads: [{selector: '{workload=\"web\"}', policy: hpa}]}"

    def test_minutes_over_http_are_decided_as_they_are_worked_out(self):
        stream = Stream(int(time.time()) // MINUTE * MINUTE - 10 * 3600, 300)
        expected = stock_formula(stream)

        def shown(daemon):
            """The target of the newest minute that was sent."""
            newest, at = stream.newest()

            def of_it():
                scaling = scaling_of(daemon, WEB)
                stamp = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(newest))
                return scaling if scaling and scaling.get("minute", "").startswith(stamp) else None
            scaling = wait_for(f"minute {at}", of_it, 60)
            self.assertEqual(scaling["decision"]["target"], expected[at], (at, scaling))
            self.assertAlmostEqual(scaling["decision"]["load_ratio"],
                                   stream.cores[at] / (stream.replicas[at] * stream.REQUEST), places=12)
            return scaling

        with Daemon(self.CONFIG, flags=[f"--clock.start={stream.start * 1000 + 6 * 3600_000}"]) as daemon:
            stream.send(daemon, 2)
            for minutes in (1, 1, 1, 1, 1, 1, 30, 17, 40, 1, 1, 1, 41):
                stream.send(daemon, minutes)
                before = shown(daemon)
            # The API asks the shard, /metrics shows the last tick.
            def ticked():
                page = daemon.metrics()
                same = total(page, "tidemark_target_replicas", **WEB) == before["decision"]["target"]
                return page if same and total(page, "tidemark_current_replicas", **WEB) == before["current_replicas"] else None
            metrics = wait_for("the newest decision in /metrics", ticked, 60)
            self.assertEqual(total(metrics, "tidemark_current_replicas", **WEB), stream.replicas[stream.newest()[1]])
            self.assertEqual(total(metrics, "tidemark_min_replicas", **WEB), stream.LOW)
            self.assertEqual(total(metrics, "tidemark_max_replicas", **WEB), stream.HIGH)
            self.assertEqual(total(metrics, "tidemark_scaling_mode", mode="reactive", **WEB), 1)
            daemon.kill()
            daemon.start()
            self.assertEqual(shown(daemon), before)
            # The window is kept too: the minutes before the kill go on to count.
            for _ in range(6):
                stream.send(daemon, 1)
                shown(daemon)
            self.assertEqual(daemon.stop(), 0)
            daemon.start()  # from the last checkpoint
            shown(daemon)
            stream.send(daemon, 1)
            shown(daemon)
            # Switched off, nothing is said any more.
            pathlib.Path(daemon.config).write_text(self.CONFIG.replace("policy: hpa", "enabled: false"))
            self.assertEqual(daemon.request("POST", "/-/reload", body=b"")[0], 200)
            self.assertEqual(scaling_of(daemon, WEB)["why"], "disabled")
            self.assertEqual(total(daemon.metrics(), "tidemark_target_replicas", **WEB), 0)

    def test_the_daemon_and_the_replay_decide_alike(self):
        minutes, first = 150, 0
        for policy in ("hpa@50", "debi", "tidemark"):
            with self.subTest(policy), tempfile.TemporaryDirectory(prefix="tidemark-replay-") as folder:
                stream = Stream(int(time.time()) // MINUTE * MINUTE - 10 * 3600, minutes)
                demand, kept = pathlib.Path(folder, "demand.csv"), pathlib.Path(folder, "minutes.csv")
                demand.write_text("unix_seconds,value\n" + "".join(
                    f"{stream.start + at * MINUTE},{cores!r}\n" for at, cores in enumerate(stream.cores) if at >= first))
                subprocess.run([TIDETOOL, "replay", f"--traces={demand}", f"--policy={policy}", "--warm-up=10m",
                                f"--request={stream.REQUEST}", f"--min-replicas={stream.LOW}", "--output=json",
                                f"--max-replicas={stream.HIGH}", f"--minutes={kept}", f"--output.file={folder}/report"],
                               check=True)
                with open(kept, newline="") as lines:
                    replayed = {(int(row["unix_seconds"]) - stream.start) // MINUTE: row
                                for row in csv.DictReader(lines) if row["policy"] == policy}
                self.assertEqual(len(replayed), minutes - first)
                # The replicas are those that the replay set.
                stream.replicas = [int(replayed[max(first, at)]["replicas"]) for at in range(minutes)]
                config = self.CONFIG.replace("hpa", policy.partition("@")[0])
                # Without ticks the API says what the shard knows, minute by minute.
                flags = [f"--clock.start={stream.start * 1000 + 6 * 3600_000}"]
                with Daemon(config, flags=flags, interval="1h") as daemon:
                    stream.send(daemon, 1)
                    compared = 0
                    while stream.sent < minutes:
                        stream.send(daemon, 1)
                        newest, at = stream.newest()
                        scaling = scaling_of(daemon, WEB) or {}
                        stamp = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(newest))
                        # Live, the first window begins with the replicas that there are.
                        if at < first + 5 or not scaling.get("minute", "").startswith(stamp):
                            continue
                        decision = scaling["decision"]
                        self.assertEqual([str(decision[key]) for key in ("target", "recommended", "reason", "mode")],
                                         [replayed[at][key] for key in ("target", "recommended", "reason", "mode")],
                                         (at, scaling))
                        compared += 1
                    self.assertGreater(compared, minutes - 10)


class ScalePoints(unittest.TestCase):
    """An HPA on utilisation whose pods were corrected: the point at which it scales, worked out here once more."""

    UTILIZATION = 60  # percent
    ORIGINAL = {"app": 2.0}  # as the annotation has it; the proxy came later
    CURRENT = {"app": 0.5, "proxy": 0.25}

    def body(self, when, minute, more=()):
        pod = {"namespace": "shop", "pod": "web-5c9f7b6d4-aaaaa"}
        scaler = {"namespace": "shop", "horizontalpodautoscaler": "web-hpa"}
        annotation = json.dumps({name: {"requests": {"cpu": str(cores)}} for name, cores in self.ORIGINAL.items()})
        lines = [
            ("kube_pod_owner", {**pod, "owner_kind": "ReplicaSet", "owner_name": "web-5c9f7b6d4",
                                "owner_is_controller": "true"}, 1),
            ("kube_replicaset_owner", {"namespace": "shop", "replicaset": "web-5c9f7b6d4", "owner_kind": "Deployment",
                                       "owner_name": "web"}, 1),
            ("kube_pod_annotations", {**pod, "annotation_tidemark_io_original_resources": annotation}, 1),
            ("kube_deployment_spec_replicas", {"namespace": "shop", "deployment": "web"}, 30),
            ("kube_horizontalpodautoscaler_info", {**scaler, "scaletargetref_kind": "Deployment",
                                                   "scaletargetref_name": "web"}, 1),
            ("kube_horizontalpodautoscaler_spec_min_replicas", scaler, 31),
            ("kube_horizontalpodautoscaler_spec_max_replicas", scaler, 60),
            ("kube_horizontalpodautoscaler_spec_target_metric",
             {**scaler, "metric_name": "cpu", "metric_target_type": "utilization"}, self.UTILIZATION),
            *more]
        for name, cores in self.CURRENT.items():
            lines.append(("kube_pod_container_resource_requests",
                          {**pod, "container": name, "resource": "cpu", "unit": "core"}, cores))
            lines.append(("container_cpu_usage_seconds_total",
                          {**pod, "container": name, "cpu": "total", "id": "/" + name}, 0.3 * cores * MINUTE * minute))
        return [series({"__name__": metric, **labels}, value, when * 1000) for metric, labels, value in lines]

    def send(self, daemon, start, minutes, more=()):
        for minute in minutes:
            status, _, answer = daemon.write(pack(b"".join(self.body(start + minute * MINUTE, minute, more))))
            self.assertEqual(status, 204, answer)

    def targets(self, daemon):
        (target,) = wait_for("the target of the HPA",
                             lambda: (scaling_of(daemon, WEB) or {}).get("utilization_targets"), 60)
        return target

    def check(self, daemon, before):
        """`before`: what the pods requested together as their owner wrote it."""
        ratio, now = self.UTILIZATION / 100, sum(self.CURRENT.values())
        (workload,) = json.loads(daemon.get("/api/v1/workloads/shop/deployment/web")[2])["data"]["workloads"]
        recommended = 0
        for container in workload["containers"]:
            (cpu,) = [of for of in container["resources"] if of["resource"] == "cpu"]
            recommended += cpu["recommended_request"]
        target = workload["scaling"]["utilization_targets"][0]
        self.assertEqual((target["autoscaler"], target["resource"], target["unit"]), ("web-hpa", "cpu", "core"))
        self.assertAlmostEqual(target["target_utilization_ratio"], ratio)
        self.assertAlmostEqual(target["scale_point_original"], ratio * before)
        self.assertAlmostEqual(target["scale_point_current"], ratio * now)
        self.assertAlmostEqual(target["scale_point_recommended"], ratio * recommended)
        self.assertAlmostEqual(target["preserving_target_ratio"], ratio * before / recommended)
        return target

    def test_the_point_at_which_an_autoscaler_scales(self):
        start = int(time.time()) // MINUTE * MINUTE - 3600
        rule = "scaling: {workloads: [{selector: '{workload=\"web\"}', base: %s, policy: hpa%s}]}"
        config = rule % ("request", ", escape_dead_band: true")
        with Daemon(config, flags=[f"--clock.start={start * 1000 + 3600_000}"]) as daemon:
            self.send(daemon, start, range(12))
            self.targets(daemon)
            target = self.check(daemon, before=2.25)  # 2 of the app, and the proxy's 0.25 of now
            self.assertIn("averageValue: 1350m", target["sentence"])  # 0.6 × 2.25
            # The same in /metrics and in the list.
            page = wait_for("the scale point in /metrics", lambda: (lambda page: page if total(
                page, "tidemark_autoscaler_scale_point", requests="recommended", **WEB) else None)(daemon.metrics()), 60)
            self.assertAlmostEqual(total(page, "tidemark_autoscaler_scale_point", requests="original", **WEB), 1.35)
            self.assertAlmostEqual(total(page, "tidemark_autoscaler_scale_point", requests="current", **WEB), 0.45)
            self.assertAlmostEqual(total(page, "tidemark_autoscaler_target_utilization_ratio", **WEB), 0.6)
            self.assertAlmostEqual(total(page, "tidemark_autoscaler_preserving_target_ratio", **WEB),
                                   target["preserving_target_ratio"])
            (item,) = json.loads(daemon.get("/api/v1/scaling")[2])["data"]["workloads"]
            self.assertEqual(item["utilization_targets"][0], target)
            # At the minimum of 31, of 30: one more is within a tenth, 34 are not.
            self.assertEqual((item["target_replicas"], item["decided_replicas"], item["escaped"]), (34, 31, True), item)
            self.assertEqual(total(page, "tidemark_target_replicas", **WEB), 34)
            self.assertEqual(total(page, "tidemark_scaling_policy_info", escape_dead_band="true", **WEB), 1)
            # Over a restart nothing is told anew.
            daemon.kill()
            daemon.start()
            self.assertEqual(self.targets(daemon), target)
            self.assertEqual(daemon.stop(), 0)
            daemon.start()
            self.assertEqual(self.targets(daemon), target)
            # Measured by what the owner wrote, the same load is a smaller share.
            pathlib.Path(daemon.config).write_text(rule % ("original", ""))
            self.assertEqual(daemon.request("POST", "/-/reload", body=b"")[0], 200)
            self.send(daemon, start, range(12, 15))
            scaling = wait_for("the other base", lambda: (lambda of: of if of.get("request") == 2.25 else None)(
                scaling_of(daemon, WEB) or {}), 60)
            self.assertEqual(scaling["base"], "original")
            self.assertAlmostEqual(scaling["decision"]["load_ratio"], scaling["demand"] / (30 * 2.25))
            # A limit nobody has is none to measure by.
            pathlib.Path(daemon.config).write_text(rule % ("limit", ""))
            self.assertEqual(daemon.request("POST", "/-/reload", body=b"")[0], 200)
            self.send(daemon, start, range(15, 18))
            wait_for("the missing limit", lambda: (scaling_of(daemon, WEB) or {}).get("why") == "no_limit", 60)
            self.check(daemon, before=2.25)


if __name__ == "__main__":
    unittest.main(verbosity=2)
