#!/usr/bin/env python3
"""Days of event time by remote write into a real daemon: what pods sum up to, what a request weighs, static pools, and a
rule that changes while the daemon runs.

usage: TIDEMARK_BIN=build/release/bin/tidemark requests_in_time_test.py
"""

import json
import os
import pathlib
import time
import unittest

from programs import Daemon, pack, series, wait_for

MINUTE = 60_000
HOUR = 60 * MINUTE
MINUTES_IN_BODY = 10
ORIGINAL = '{"app":{"requests":{"cpu":"2","memory":"1Gi"}},"proxy":{"requests":{"cpu":"500m"}}}'
# A bucket is 5 % wide; the smallest 10m.
BUCKET = 1.06


class Feed:
    """The minutes of one pod of a StatefulSet, from `start_ms` on: `usage(minute)` gives {container: (cores, bytes)}."""

    def __init__(self, daemon, name_space, start_ms, usage, requests=None, annotation=None):
        self.daemon = daemon
        self.now_ms = start_ms
        self.minute = 0
        self.pod = {"namespace": name_space, "pod": "db-0"}
        self.usage = usage
        self.requests = requests or (lambda minute: {})  # {container: cores}
        self.annotation = annotation
        self.spent = {}

    def scrape(self):
        """What both exporters say now; then a minute passes."""
        def one(metric, value, **more):
            return series({"__name__": metric, **self.pod, **more}, value, self.now_ms)

        parts = [one("kube_pod_owner", 1, owner_kind="StatefulSet", owner_name="db", owner_is_controller="true")]
        if self.annotation:
            parts.append(one("kube_pod_annotations", 1, annotation_tidemark_io_original_resources=self.annotation))
        for container, cores in self.requests(self.minute).items():
            parts.append(one("kube_pod_container_resource_requests", cores, container=container, resource="cpu",
                             unit="core", node="n1"))
        for container, (cores, size) in self.usage(self.minute).items():
            parts.append(one("container_cpu_usage_seconds_total", self.spent.get(container, 0.0), container=container,
                             cpu="total", id="/" + container))
            parts.append(one("container_memory_working_set_bytes", size, container=container, id="/" + container))
            self.spent[container] = self.spent.get(container, 0.0) + 60 * cores
        self.minute += 1
        self.now_ms += MINUTE
        return b"".join(parts)

    def go(self, hours):
        left = int(hours * 60)
        while left > 0:
            body = b"".join(self.scrape() for _ in range(min(left, MINUTES_IN_BODY)))
            status, _, text = self.daemon.write(pack(body))
            if status not in (200, 204):
                raise AssertionError(f"write answered {status}: {text}")
            left -= MINUTES_IN_BODY


def start_of(hours):
    """So many hours, and a little, before now."""
    return int(time.time()) * 1000 // MINUTE * MINUTE - hours * HOUR - 10 * MINUTE


def replace(path, content):
    pathlib.Path(path + ".new").write_text(content)
    os.rename(path + ".new", path)


class InTime(unittest.TestCase):
    def explained(self, daemon, name_space, container, resource):
        """What is said of it, by both endpoints alike; None when nothing is."""
        status, _, text = daemon.get(f"/api/v1/workloads/{name_space}/statefulset/db")
        if status != 200:
            return None
        (workload,) = json.loads(text)["data"]["workloads"]
        (found,) = [each for each in workload["containers"] if each["container"] == container]
        answers = [each for each in found["resources"] if each["resource"] == resource]
        return answers[0] if answers else None

    def at_the_end(self, daemon, feed, container, resource, samples=0):
        """Once the tick shows the newest minutes."""
        seen = feed.now_ms - 3 * MINUTE

        def found():
            status, _, text = daemon.get(f"/api/v1/workloads/{feed.pod['namespace']}/statefulset/db")
            if status != 200:
                return None
            answer = self.explained(daemon, feed.pod["namespace"], container, resource)
            last = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(seen / 1000))
            shown = json.loads(text)["data"]["workloads"][0]["event_time"] >= last
            return answer if shown and answer and answer["samples"] >= samples else None

        answer = wait_for(f"{container}'s {resource} of {feed.pod['namespace']}", found)
        items = wait_for("the same in both answers", lambda: self.recommended(daemon, feed, container, resource, answer))
        self.assertEqual(items["reason"], answer["reason"])
        return answer

    @staticmethod
    def recommended(daemon, feed, container, resource, answer):
        _, _, text = daemon.get(f"/api/v1/recommendations?namespace={feed.pod['namespace']}&container={container}"
                                f"&resource={resource}")
        items = json.loads(text)["data"]["recommendations"]
        return items[0] if items and items[0].get("samples") == answer["samples"] else None

    def test_a_pod_is_more_even_than_its_containers(self):
        """Two containers take turns: the sum of their peaks is twice the pod's."""
        def turns(minute):
            busy = minute % 2 == 0
            return {"app": (1.0 if busy else 0.1, 3e8), "proxy": (0.1 if busy else 1.0, 3e8)}

        def requests(minute):
            return {"app": 3.0, "proxy": 1.0}

        config = """\
estimation: {cpu: {margin: 0, percentile: 1, pod_minimum: 0}}
profiles:
  - {name: whole, selector: '{namespace="whole"}', level: pod}
  - {name: equal, selector: '{namespace="equal"}', level: pod}
"""
        with Daemon(config) as daemon:
            feeds = {name: Feed(daemon, name, start_of(4), turns, requests if name != "equal" else None)
                     for name in ("single", "whole", "equal")}
            for feed in feeds.values():
                feed.go(4)
            said = {(name, container): self.at_the_end(daemon, feed, container, "cpu")
                    for name, feed in feeds.items() for container in ("app", "proxy")}
            amount = {key: answer["recommended_request"] for key, answer in said.items()}
            for container in ("app", "proxy"):
                self.assertTrue(1.0 <= amount["single", container] <= BUCKET, amount)
            self.assertTrue(1.1 <= amount["whole", "app"] + amount["whole", "proxy"] <= 1.1 * BUCKET + 0.002, amount)
            self.assertAlmostEqual(amount["whole", "app"] / amount["whole", "proxy"], 3, delta=0.02)
            self.assertEqual(amount["equal", "app"], amount["equal", "proxy"])
            self.assertIn("shared_by_request", said["whole", "app"]["marks"])
            self.assertIn("shared_equally", said["equal", "app"]["marks"])
            self.assertIn("its share, by the containers' requests", said["whole", "app"]["reason"])

    def test_in_oversell_a_large_request_weighs_more(self):
        """Two hours of 1 core with a small request, two of 0.1 with a large one."""
        config = """\
profiles:
  - {name: weighed, selector: '{namespace="weighed"}', preset: oversell, cpu: {percentile: 0.6}}
  - {name: even, selector: '{namespace="even"}', preset: oversell, cpu: {percentile: 0.6, weight: constant}}
"""
        with Daemon(config) as daemon:
            amount = {}
            for name in ("weighed", "even"):
                feed = Feed(daemon, name, start_of(4), lambda minute: {"app": (1.0 if minute < 120 else 0.1, 3e8)},
                            lambda minute: {"app": 0.5 if minute < 120 else 8.0})
                feed.go(4)
                amount[name] = self.at_the_end(daemon, feed, "app", "cpu")["recommended_request"]
            self.assertTrue(0.1 <= amount["weighed"] <= 0.12, amount)
            # Without decay it would be on the edge; the newer half weighs a little more, 0.6 is beyond it all the same.
            self.assertTrue(1.0 <= amount["even"] <= BUCKET, amount)

    def test_a_static_pool_takes_a_share_of_what_the_owner_wrote(self):
        config = """\
profiles:
  - name: static
    selector: '{namespace="pool"}'
    preset: oversell
    mode: static
    effect: applied
    cpu: {static_ratio: 0.8}
    memory: {enabled: false}
  - name: first-static
    selector: '{namespace="later"}'
    preset: oversell
    mode: static_and_dynamic
    effect: applied
    cpu: {static_ratio: 0.8}
"""
        with Daemon(config) as daemon:
            usage = lambda minute: {"app": (0.25, 3e8), "proxy": (0.05, 5e7)}  # noqa: E731
            pool = Feed(daemon, "pool", start_of(2), usage, annotation=ORIGINAL)
            unknown = Feed(daemon, "pool", start_of(2), usage)
            unknown.pod = {"namespace": "pool", "pod": "other-0"}
            later = Feed(daemon, "later", start_of(26), usage, annotation=ORIGINAL)
            pool.go(2)
            self.assertEqual(self.at_the_end(daemon, pool, "app", "cpu")["recommended_request"], 1.6)
            answer = self.at_the_end(daemon, pool, "proxy", "cpu")
            self.assertEqual((answer["recommended_request"], answer["original_request"]), (0.4, 0.5))
            self.assertEqual(answer["reason"], "cpu 400m: 80 % of the original request of 500m")
            self.assertEqual(answer["marks"], ["static"])
            self.assertEqual(answer["correction"]["rule"], "static_ratio")
            metrics = daemon.metrics()
            (original,) = [value for (name, labels), value in metrics.items() if name == "tidemark_original_request"
                           and {("container", "app"), ("resource", "memory")} <= labels]
            self.assertEqual(original, 2**30)

            later.go(12)
            self.assertEqual(self.at_the_end(daemon, later, "app", "cpu")["recommended_request"], 1.6)
            later.go(14)
            answer = self.at_the_end(daemon, later, "app", "cpu", samples=25 * 60)
            self.assertTrue(0.25 <= answer["recommended_request"] <= 0.25 * BUCKET, answer)
            self.assertEqual(answer["correction"]["rule"], "candidate")

    def test_the_rule_before_answers_until_the_new_one_has_a_day(self):
        before = "estimation: {memory: {samples: peak_per_window, margin: 0, percentile: 1}}\n"
        after = "estimation: {memory: {samples: every_minute, margin: 0, percentile: 0.5}}\n"

        def usage(minute):
            return {"app": (0.2, 9e8 if minute % 60 == 0 else 3e8)}

        with Daemon(before) as daemon:
            feed = Feed(daemon, "shop", start_of(34), usage)
            feed.go(8)
            old = self.at_the_end(daemon, feed, "app", "memory")
            self.assertGreater(old["recommended_request"], 9e8)
            self.assertEqual(old["marks"], [])

            replace(daemon.config, after)
            self.assertEqual(daemon.request("POST", "/-/reload")[0], 200)
            feed.go(12)
            standing = self.at_the_end(daemon, feed, "app", "memory")
            self.assertIn("earlier_rule", standing["marks"])
            self.assertIn("the rule changed", standing["reason"])
            # The history is that of the rule before; what is asked of it, the present percentile.
            self.assertGreater(standing["recommended_request"], 8e8)
            daemon.kill()  # it does not forget which rule it answers by
            daemon.start()
            again = self.at_the_end(daemon, feed, "app", "memory")
            self.assertEqual(again["recommended_request"], standing["recommended_request"])
            self.assertIn("earlier_rule", again["marks"])
            feed.go(14)

            def changed():
                answer = self.explained(daemon, "shop", "app", "memory")
                return answer if "earlier_rule" not in answer["marks"] else None

            new = wait_for("the new rule", changed)
            self.assertLess(new["recommended_request"], 4e8)
            self.assertGreater(new["confidence_days"], 1)

    def test_another_percentile_holds_at_once_and_a_bad_file_does_nothing(self):
        config = "estimation: {{cpu: {{margin: 0, percentile: {}}}}}\n"
        with Daemon(config.format(0.5)) as daemon:
            feed = Feed(daemon, "shop", start_of(5), lambda minute: {"app": (1.0 if minute % 5 == 0 else 0.2, 3e8)})
            feed.go(5)
            low = self.at_the_end(daemon, feed, "app", "cpu")["recommended_request"]
            self.assertTrue(0.2 <= low <= 0.2 * BUCKET + 0.01, low)
            replace(daemon.config, config.format(0.9))
            self.assertEqual(daemon.request("POST", "/-/reload")[0], 200)
            # At once: with the answer, not with the next tick.
            high = self.explained(daemon, "shop", "app", "cpu")["recommended_request"]
            self.assertTrue(1.0 <= high <= BUCKET, high)
            replace(daemon.config, config.format(2))
            self.assertEqual(daemon.request("POST", "/-/reload")[0], 500)
            self.assertEqual(self.explained(daemon, "shop", "app", "cpu")["recommended_request"], high)
            self.assertEqual(daemon.metrics()["tidemark_config_last_reload_successful", frozenset()], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
