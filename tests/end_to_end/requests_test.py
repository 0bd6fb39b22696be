#!/usr/bin/env python3
"""What an operator lives through with requests: three profiles behind a real Prometheus that scrapes a demo cluster, a
container that is killed for memory, changes of the configuration while all runs, and a kill of the daemon itself.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool requests_test.py
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse

from programs import Daemon, free_port, get, total, wait_for

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
# Two whole minutes must pass before the first values of CPU; the cluster's first container is killed after 100 seconds.
PATIENCE_SECONDS = 240
MIB = 2**20

PROFILES = """\
estimation: {{cpu: {{percentile: {percentile}}}}}
profiles:
  - name: as-vpa
    selector: '{{namespace="pay"}}'
    preset: vpa
  - name: pool
    selector: '{{namespace="media"}}'
    preset: oversell
    mode: static_and_dynamic
    effect: applied
    cpu: {{static_ratio: 0.6}}
compat: {{vpa_metrics: true}}
"""
# In scripts/demo's cluster: the container that is killed first, and the one whose owner's requests were corrected.
LEAKING = {"namespace": "shop", "workload_type": "deployment", "workload": "recommendations", "container": "app"}
CORRECTED = {"namespace": "media", "workload_type": "deployment", "workload": "image-api", "container": "api"}
ORIGINAL_CORES, ORIGINAL_BYTES = 1.5, 2 * 2**30
VPA = "kube_customresource_verticalpodautoscaler_status_recommendation_containerrecommendations_"


def selector(**labels):
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


def replace(path, content):
    pathlib.Path(path + ".new").write_text(content)
    os.rename(path + ".new", path)


class Story(unittest.TestCase):
    """Its tests are the chapters of one story, in the order of their names."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tidemark-requests-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.children = []
        cls.addClassCleanup(cls.stop_all)
        cls.daemon = Daemon(PROFILES.format(percentile=0.9), listen=free_port())
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.__enter__()
        cluster, prometheus = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        cls.prometheus_url = "http://" + prometheus
        config = pathlib.Path(cls.folder.name, "prometheus.yml")
        target = f"127.0.0.1:{cls.daemon.port}"
        config.write_text(json.dumps({  # YAML is a superset
            "global": {"scrape_interval": "3s", "scrape_timeout": "2s", "evaluation_interval": "3s"},
            "scrape_configs": [
                {"job_name": "cluster", "honor_labels": True, "static_configs": [{"targets": [cluster]}]},
                {"job_name": "tidemark", "honor_labels": True, "static_configs": [{"targets": [target]}]}],
            "remote_write": [{"url": f"http://{target}/api/v1/write",
                              "queue_config": {"batch_send_deadline": "1s"}}]}))
        cls.prometheus = cls.start("prometheus", [
            "prometheus", f"--config.file={config}", "--log.level=warn", "--storage.remote.flush-deadline=2s",
            f"--storage.tsdb.path={cls.folder.name}/tsdb", f"--web.listen-address={prometheus}"])
        wait_for("Prometheus answers", lambda: cls.query("vector(1)"), 60)
        # Last, so that all of its first minute is seen: the kill comes when a recommendation stands.
        cls.start("cluster", [TIDETOOL, "demo-cluster", f"--web.listen-address={cluster}"])

    @classmethod
    def start(cls, name, command):
        with open(os.path.join(cls.folder.name, name + ".log"), "w") as log:
            cls.children.append(subprocess.Popen(command, stdout=log, stderr=log))
        return cls.children[-1]

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

    def value(self, expression, seconds=20):
        """Of the one series that comes back from Prometheus."""
        (row,) = wait_for(expression, lambda: self.query(expression), seconds)
        return row[1]

    def api(self, path):
        status, _, text = self.daemon.get(path)
        self.assertEqual(status, 200, text)
        return json.loads(text)["data"]

    def explained(self, workload):
        """(generation, event time, profile, {resource: explanation}) of the workload's container."""
        data = self.api(f"/api/v1/workloads/{workload['namespace']}/{workload['workload_type']}/{workload['workload']}")
        (only,) = data["workloads"]
        (container,) = [each for each in only["containers"] if each["container"] == workload["container"]]
        return (data["generation"], only["event_time"], container["profile"],
                {each["resource"]: each for each in container["resources"]})

    def recommended(self, workload):
        """(generation, {resource: item}) of the workload's container."""
        data = self.api("/api/v1/recommendations?" + urllib.parse.urlencode(workload))
        return data["generation"], {item["resource"]: item for item in data["recommendations"]}

    def of_one_moment(self, workload):
        """Both answers about a container, asked between two ticks."""
        def both():
            generation, items = self.recommended(workload)
            same, _, _, explained = self.explained(workload)
            return (items, explained) if same == generation == self.recommended(workload)[0] else None
        return wait_for("both answers of one tick", both, 20)

    def reload(self, content):
        replace(self.daemon.config, content)
        status, _, text = self.daemon.request("POST", "/-/reload", body=b"")
        return status, text.decode()

    def test_1_recommendations_come_back_from_prometheus_by_profile(self):
        leaking = selector(resource="memory", **LEAKING)
        before = self.value(f"tidemark_recommended_request{leaking}", PATIENCE_SECONDS)
        self.assertEqual(self.explained(LEAKING)[3]["memory"].get("kills", 0), 0)
        type(self).before_the_kill = before

        for name_space, name, preset, effect in (("pay", "as-vpa", "vpa", "shown"), ("media", "pool", "oversell", "applied"),
                                                 ("shop", "default", "tidemark", "shown")):
            labels = selector(namespace=name_space, profile=name, preset=preset, effect=effect)
            rows = wait_for(labels, lambda: self.query(f"tidemark_recommendation_profile_info{labels} == 1"), 60)
            # It tells them apart without anything else: no container of the namespace has another.
            others = self.query(f'tidemark_recommendation_profile_info{{namespace="{name_space}",profile!="{name}"}}')
            self.assertGreater(len(rows), 3)
            self.assertEqual(others, [])

    def test_2_a_pool_starts_from_what_owners_wrote(self):
        self.assertEqual(self.value("tidemark_original_request" + selector(resource="cpu", **CORRECTED), 60), ORIGINAL_CORES)
        self.assertEqual(self.value("tidemark_original_request" + selector(resource="memory", **CORRECTED)), ORIGINAL_BYTES)
        static = "tidemark_recommended_request" + selector(resource="cpu", **CORRECTED)
        self.assertAlmostEqual(self.value(static), 0.6 * ORIGINAL_CORES)
        # The two join without relabelling.
        self.assertAlmostEqual(self.value(f"{static} / tidemark_original_request"), 0.6)
        items, explained = self.of_one_moment(CORRECTED)
        self.assertEqual(items["cpu"]["reason"], "cpu 900m: 60 % of the original request of 1.5")
        self.assertEqual(explained["cpu"]["reason"], items["cpu"]["reason"])
        self.assertEqual(explained["cpu"]["correction"]["rule"], "static_ratio")

    def test_3_a_kill_raises_the_request_within_two_ticks(self):
        def kills():
            return total(self.daemon.metrics(), "tidemark_engine_oom_kills_total")

        wait_for("a container is killed", kills, PATIENCE_SECONDS)
        generation = self.recommended(LEAKING)[0]

        def two_ticks_on():
            now, items = self.recommended(LEAKING)
            return items["memory"] if now >= generation + 2 or items["memory"].get("kills") else None

        item = wait_for("two ticks", two_ticks_on, 20)
        self.assertEqual(item.get("kills"), 1, item)
        self.assertIn("killed for memory once", item["reason"])
        # It was killed at its limit, which is twice what it requests.
        limit = item["current_limit"]
        self.assertGreater(item["recommended_request"], 1.1 * self.before_the_kill)
        self.assertGreater(item["recommended_request"], 1.1 * limit)

        items, explained = self.of_one_moment(LEAKING)
        self.assertEqual(explained["memory"]["reason"], items["memory"]["reason"])
        self.assertEqual(explained["memory"]["kills"], 1)
        (kill,) = explained["memory"]["kills_counted"]
        self.assertEqual(kill["request"], item["current_request"])
        self.assertGreater(kill["needed"], limit)
        when = self.value("max(kube_pod_container_status_last_terminated_timestamp"
                          f"{selector(namespace='shop', container='app')}"
                          " * on (namespace, pod, container) group_left ()"
                          ' (kube_pod_container_status_last_terminated_reason{reason="OOMKilled",pod=~"recommendations-.*"}'
                          " == 1))")
        self.assertEqual(kill["time"][:19], time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(when)))
        # The raised request comes back from Prometheus too.
        raised = "tidemark_recommended_request" + selector(resource="memory", **LEAKING)
        wait_for("the raised request", lambda: self.query(f"{raised} > {1.1 * self.before_the_kill}"), 20)

    def test_4_bounds_stand_on_both_sides_of_a_request(self):
        # An upper bound needs three minutes of samples.
        rows = wait_for("bounds of CPU of namespace pay", lambda: self.query(
            'tidemark_recommended_request{namespace="pay",resource="cpu"}'
            ' and tidemark_recommended_request_upper_bound >= tidemark_recommended_request'
            ' and tidemark_recommended_request_lower_bound <= tidemark_recommended_request'), PATIENCE_SECONDS)
        self.assertGreater(len(rows), 3)
        # Of a pod with two containers each has at least half of VPA's least pod of 250Mi.
        least = min(value for _, value in self.query('tidemark_recommended_request{namespace="pay",resource="memory"}'))
        self.assertGreaterEqual(least, 125 * MIB)

    def test_5_dashboards_for_vpa_find_what_they_ask_for(self):
        ours = self.value('sum(tidemark_recommended_request{namespace="pay",resource="memory"})')
        rows = wait_for("targets", lambda: self.query(f'{VPA}target{{namespace="pay",resource="memory"}}'), 20)
        self.assertGreater(ours, 0)
        for name in ("lowerbound", "target", "uncappedtarget", "upperbound"):
            self.assertEqual(len(self.query(f'{VPA}{name}{{namespace="pay",resource="memory"}}')), len(rows), name)
        kinds = {labels["target_kind"] for labels, _ in rows}
        self.assertLessEqual({"Rollout", "Deployment", "StatefulSet"}, kinds)
        # docs/recommendations.md compares the two with this.
        ratios = self.query(
            'tidemark_recommended_request{namespace="pay",resource="memory"}'
            " / on (namespace, workload, container, resource) group_left ()"
            f' label_replace({VPA}target{{namespace="pay"}}, "workload", "$1", "target_name", "(.*)")')
        self.assertEqual(len(ratios), len(rows))
        self.assertEqual({value for _, value in ratios}, {1.0})

    def test_6_a_reload_holds_at_once_and_a_bad_one_does_nothing(self):
        def sum_of(items):
            return sum(item.get("recommended_request", 0) for item in items)

        def shop():
            return self.api("/api/v1/recommendations?namespace=shop&resource=cpu")["recommendations"]

        wait_for("CPU of all of namespace shop", lambda: all(item.get("samples", 0) > 2 for item in shop()), PATIENCE_SECONDS)
        before = sum_of(shop())
        self.assertEqual(self.reload(PROFILES.format(percentile=0.1)), (200, ""))
        low = sum_of(shop())
        self.assertLess(low, before)
        self.assertTrue(all("10th percentile" in item["reason"] for item in shop()), shop())
        wait_for("it comes back from Prometheus", lambda: self.query(
            f'sum(tidemark_recommended_request{{namespace="shop",resource="cpu"}}) < {(low + before) / 2}'), 20)
        self.assertEqual(self.value("tidemark_config_last_reload_successful"), 1)

        status, text = self.reload(PROFILES.format(percentile=1.9))
        self.assertEqual(status, 500)
        self.assertIn("percentile", text)
        self.assertIn("1.9", text)
        self.assertTrue(all("10th percentile" in item["reason"] for item in shop()))
        wait_for("the failure in Prometheus", lambda: self.query("tidemark_config_last_reload_successful == 0"), 20)
        self.assertEqual(self.reload(PROFILES.format(percentile=0.9)), (200, ""))
        self.assertTrue(all("90th percentile" in item["reason"] for item in shop()))
        wait_for("the recovery in Prometheus", lambda: self.query("tidemark_config_last_reload_successful == 1"), 20)

    def test_7_promtool_finds_nothing_but_the_days(self):
        result = subprocess.run(["promtool", "check", "metrics"], input=self.daemon.get("/metrics")[2].decode(), text=True,
                                capture_output=True)
        # Its rule for units knows seconds only; the name with days is the one that others hold on to.
        self.assertEqual((result.stdout + result.stderr).splitlines(), [
            'tidemark_recommendation_confidence_days use base unit "seconds" instead of "days"'])
        self.assertEqual(self.value("sum(tidemark_remote_write_samples_rejected_total)"), 0)

    def test_8_after_kill_9_it_says_the_same(self):
        # What comes no more cannot change it.
        self.prometheus.terminate()
        self.prometheus.wait(30)

        def said():
            data = self.api("/api/v1/recommendations?limit=10000")["recommendations"]
            keys = ("recommended_request", "lower_bound", "upper_bound", "original_request", "model_request", "samples",
                    "kills", "reason", "profile")
            return {tuple(item.get(key) for key in ("namespace", "workload", "container", "resource")):
                    {key: item.get(key) for key in keys} for item in data}

        def settled():
            first, generation = said(), self.recommended(LEAKING)[0]
            wait_for("another tick", lambda: self.recommended(LEAKING)[0] > generation, 20)
            return first if said() == first else None

        before = wait_for("nothing changes any more", settled, 30)
        self.assertGreater(len(before), 80)
        self.daemon.kill()
        self.daemon.start()
        after = wait_for("recommendations after the restart", said, 30)
        self.assertEqual(before, after)
        self.assertEqual(self.explained(LEAKING)[3]["memory"]["kills"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=True)
