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
PATIENCE_SECONDS = 300
SCRAPE_SECONDS = 5
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
# All of its pods give way to those of a new version, 75 to 130 seconds after the cluster's start. CPU of a pod's first five
# minutes is left out where older pods have told some (docs/recommendations.md, start_up): so long none is added.
ROLLED_OUT = "catalog"
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
            # As much time for a scrape as there is: after one that failed nothing is known of the whole cluster for a while.
            "global": {"scrape_interval": f"{SCRAPE_SECONDS}s", "scrape_timeout": f"{SCRAPE_SECONDS}s"},
            "scrape_configs": [
                {"job_name": "cluster", "honor_labels": True, "static_configs": [{"targets": [cluster]}]},
                {"job_name": "tidemark", "honor_labels": True, "static_configs": [{"targets": [target]}]}],
            # One queue that never becomes several: where Prometheus changes their number it drops what it cannot send within
            # the flush deadline (prometheus/prometheus #7230).
            "remote_write": [{"url": f"http://{target}/api/v1/write", "queue_config": {
                "batch_send_deadline": "1s", "max_samples_per_send": 2000, "capacity": 20000, "min_shards": 1,
                "max_shards": 1}}]}))
        cls.prometheus = cls.start("prometheus", [
            "prometheus", f"--config.file={config}", "--log.level=warn", "--storage.remote.flush-deadline=2s",
            f"--storage.tsdb.path={cls.folder.name}/tsdb", f"--web.listen-address={prometheus}"])
        wait_for("Prometheus answers", lambda: cls.query("vector(1)"))
        # Last, so that all of its first minute is seen. That ends soon: what is recommended of memory stands long before the
        # first container is killed, after 100 seconds, and old pods of ROLLED_OUT bring a minute before they go.
        wait_for("the middle of a minute", lambda: 25 <= time.time() % 60 <= 45)
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
                    child.wait(60)
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

    def value(self, expression):
        """Of the one series that comes back from Prometheus."""
        (row,) = wait_for(self.with_state(expression), lambda: self.query(expression), PATIENCE_SECONDS)
        return row[1]

    def with_state(self, what):
        """For wait_for: how the programs are when something has not come."""
        def text():
            said = [what]
            for child, name in zip(self.children, ("prometheus", "cluster")):
                if child.poll() is not None:
                    said.append(f"{name} ended with {child.returncode}")
                log = pathlib.Path(self.folder.name, name + ".log").read_text(errors="replace").splitlines()
                said += [f"{name}: {line}" for line in log[-5:]]
            for expression in ("up", "scrape_duration_seconds", "time() - timestamp(up)"):
                said.append(f"{expression}: {[(row.get('job'), value) for row, value in self.query(expression)]}")
            try:
                page = get(self.prometheus_url + "/metrics")
                said += [line for line in page.splitlines() if line.startswith(
                    ("prometheus_remote_storage_samples_", "prometheus_remote_storage_queue_highest_sent_timestamp"))]
            except OSError as error:
                said.append(f"Prometheus: {error}")
            said.append(self.daemon.last_log())
            return "\n".join(said)
        return text

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
        """Both answers about a container, asked between two ticks, and between two minutes: what is explained is how things
        are now, what is recommended how they were at the tick."""
        def both():
            generation, items = self.recommended(workload)
            same, _, _, explained = self.explained(workload)
            if not same == generation == self.recommended(workload)[0]:
                return None
            recommended, now = ({name: (each.get("samples"), each.get("kills")) for name, each in said.items()}
                                for said in (items, explained))
            return (items, explained) if recommended == now else None
        return wait_for("both answers of one tick", both)

    def reload(self, content):
        replace(self.daemon.config, content)
        status, _, text = self.daemon.request("POST", "/-/reload", body=b"")
        return status, text.decode()

    def test_1_recommendations_come_back_from_prometheus_by_profile(self):
        leaking = selector(resource="memory", **LEAKING)
        before = self.value(f"tidemark_recommended_request{leaking}")
        self.assertEqual(self.explained(LEAKING)[3]["memory"].get("kills", 0), 0)
        type(self).before_the_kill = before

        for name_space, name, preset, effect in (("pay", "as-vpa", "vpa", "shown"), ("media", "pool", "oversell", "applied"),
                                                 ("shop", "default", "tidemark", "shown")):
            labels = selector(namespace=name_space, profile=name, preset=preset, effect=effect)
            # More than one pod can bring: it is known of the whole namespace.
            info = f"tidemark_recommendation_profile_info{labels} == 1"
            wait_for(self.with_state(labels), lambda: len(self.query(info)) > 3, PATIENCE_SECONDS)
            # It tells them apart without anything else: no container of the namespace has another.
            others = self.query(f'tidemark_recommendation_profile_info{{namespace="{name_space}",profile!="{name}"}}')
            self.assertEqual(others, [])

    def test_2_a_pool_starts_from_what_owners_wrote(self):
        self.assertEqual(self.value("tidemark_original_request" + selector(resource="cpu", **CORRECTED)), ORIGINAL_CORES)
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

        wait_for(self.with_state("a container is killed"), kills, PATIENCE_SECONDS)
        generation = self.recommended(LEAKING)[0]

        def two_ticks_on():
            now, items = self.recommended(LEAKING)
            return items["memory"] if now >= generation + 2 or items["memory"].get("kills") else None

        def told():
            item = self.recommended(LEAKING)[1]["memory"]
            return item if {"current_request", "current_limit"} <= item.keys() else None

        item = wait_for("two ticks", two_ticks_on)
        self.assertEqual(item.get("kills"), 1, item)
        item = wait_for("its request and limit", told)  # which nobody tells while a scrape has failed
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
        wait_for(self.with_state("the raised request"), lambda: self.query(f"{raised} > {1.1 * self.before_the_kill}"))

    def test_4_bounds_stand_on_both_sides_of_a_request(self):
        # An upper bound needs three minutes of samples.
        bounded = ('tidemark_recommended_request{namespace="pay",resource="cpu"}'
                   ' and tidemark_recommended_request_upper_bound >= tidemark_recommended_request'
                   ' and tidemark_recommended_request_lower_bound <= tidemark_recommended_request')
        wait_for(self.with_state("bounds of CPU of namespace pay"), lambda: len(self.query(bounded)) > 3, PATIENCE_SECONDS)
        # Of a pod with two containers each has at least half of VPA's least pod of 250Mi.
        least = self.value('min(tidemark_recommended_request{namespace="pay",resource="memory"})')
        self.assertGreaterEqual(least, 125 * MIB)

    def test_5_dashboards_for_vpa_find_what_they_ask_for(self):
        ours = self.value('sum(tidemark_recommended_request{namespace="pay",resource="memory"})')
        self.assertGreater(ours, 0)
        of_pay = '{namespace="pay",resource="memory"}'
        # In one query each: of one scrape, whatever comes between two.
        wait_for(self.with_state("each target with its bounds"), lambda: self.query(
            " and ".join(f"count({VPA}{name}{of_pay}) == count(tidemark_recommended_request{of_pay})"
                         for name in ("lowerbound", "target", "uncappedtarget", "upperbound"))), PATIENCE_SECONDS)
        wait_for(self.with_state("every kind of target"), lambda: {"Rollout", "Deployment", "StatefulSet"} <= {
            labels["target_kind"] for labels, _ in self.query(f"{VPA}target{of_pay}")}, PATIENCE_SECONDS)
        # docs/recommendations.md compares the two with this.
        ratio = (f"(tidemark_recommended_request{of_pay} / on (namespace, workload, container, resource) group_left ()"
                 f' label_replace({VPA}target{{namespace="pay"}}, "workload", "$1", "target_name", "(.*)"))')
        self.assertEqual(self.value(f"count({ratio} == 1) / count(tidemark_recommended_request{of_pay})"), 1)

    def test_6_a_reload_holds_at_once_and_a_bad_one_does_nothing(self):
        def sum_of(items):
            return sum(item.get("recommended_request", 0) for item in items)

        def shop():
            return self.api("/api/v1/recommendations?namespace=shop&resource=cpu")["recommendations"]

        def young():
            """[(workload, container, samples)] of those that have too few: how many old pods bring until they go depends on
            where in a minute the cluster began, but it is one at least."""
            return [(item["workload"], item["container"], item.get("samples", 0)) for item in shop()
                    if item.get("samples", 0) < (1 if item["workload"] == ROLLED_OUT else 3)]

        wait_for(lambda: self.with_state(f"CPU of all of namespace shop, still {young()}")(), lambda: shop() and not young(),
                 PATIENCE_SECONDS)
        before = sum_of(shop())
        self.assertEqual(self.reload(PROFILES.format(percentile=0.1)), (200, ""))
        low = sum_of(shop())
        self.assertLess(low, before)
        self.assertTrue(all("10th percentile" in item["reason"] for item in shop()), shop())
        wait_for("it comes back from Prometheus", lambda: self.query(
            f'sum(tidemark_recommended_request{{namespace="shop",resource="cpu"}}) < {(low + before) / 2}'))
        wait_for("the success in Prometheus", lambda: self.query("tidemark_config_last_reload_successful == 1"))

        status, text = self.reload(PROFILES.format(percentile=1.9))
        self.assertEqual(status, 500)
        self.assertIn("percentile", text)
        self.assertIn("1.9", text)
        self.assertTrue(all("10th percentile" in item["reason"] for item in shop()))
        wait_for("the failure in Prometheus", lambda: self.query("tidemark_config_last_reload_successful == 0"))
        self.assertEqual(self.reload(PROFILES.format(percentile=0.9)), (200, ""))
        self.assertTrue(all("90th percentile" in item["reason"] for item in shop()))
        wait_for("the recovery in Prometheus", lambda: self.query("tidemark_config_last_reload_successful == 1"))

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
        self.prometheus.wait(60)

        def said():
            data = self.api("/api/v1/recommendations?limit=10000")["recommendations"]
            keys = ("recommended_request", "lower_bound", "upper_bound", "original_request", "model_request", "samples",
                    "kills", "reason", "profile")
            return {tuple(item.get(key) for key in ("namespace", "workload", "container", "resource")):
                    {key: item.get(key) for key in keys} for item in data}

        def settled():
            first, generation = said(), self.recommended(LEAKING)[0]
            wait_for("another tick", lambda: self.recommended(LEAKING)[0] > generation)
            return first if said() == first else None

        before = wait_for("nothing changes any more", settled)
        self.assertGreater(len(before), 80)
        self.daemon.kill()
        self.daemon.start()
        after = wait_for("recommendations after the restart", said)
        self.assertEqual(before, after)
        self.assertEqual(self.explained(LEAKING)[3]["memory"]["kills"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=True)
