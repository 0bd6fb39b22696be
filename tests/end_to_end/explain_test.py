#!/usr/bin/env python3
"""How requests came about, asked of a real daemon over HTTP: what it explains is what it recommends everywhere else.

usage: TIDEMARK_BIN=build/release/bin/tidemark explain_test.py
"""

import gzip
import json
import time
import unittest

from programs import Daemon, pack, series

MINUTES = 180
CORES = 0.4
BYTES = 300_000_000
REPLICAS = 3
WEB = "/api/v1/workloads/shop/deployment/web"
POD = {"namespace": "shop", "pod": "web-5c9f7b6d4-x2x4z"}
STEPS = ("percentile", "kills", "margin", "expansion", "pod_minimum", "floor", "ceiling", "rounding", "static_ratio",
         "split", "hours", "wish", "correction", "week_maximum", "hold", "high_hour", "safety", "first_day", "node_cap")


def minute_of_web(time_ms, seconds):
    """A request with everything that is known of the only pod of shop/deployment/web."""
    container = {**POD, "container": "app"}
    return pack(b"".join(series(labels, value, time_ms) for labels, value in (
        ({"__name__": "container_cpu_usage_seconds_total", "id": "/a", **container}, 50 + CORES * seconds),
        ({"__name__": "container_memory_working_set_bytes", "id": "/a", **container}, float(BYTES)),
        ({"__name__": "kube_pod_owner", "owner_kind": "ReplicaSet", "owner_name": "web-5c9f7b6d4",
          "owner_is_controller": "true", **POD}, 1.0),
        ({"__name__": "kube_replicaset_owner", "namespace": "shop", "replicaset": "web-5c9f7b6d4",
          "owner_kind": "Deployment", "owner_name": "web"}, 1.0),
        ({"__name__": "kube_deployment_spec_replicas", "namespace": "shop", "deployment": "web"}, float(REPLICAS)),
        ({"__name__": "kube_pod_container_resource_requests", "resource": "cpu", "unit": "core", "node": "n1",
          **container}, 2.0),
    )))


class ExplainTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.daemon.__enter__()
        cls.addClassCleanup(cls.daemon.__exit__)
        start = int(time.time()) // 60 * 60 - MINUTES * 60
        for minute in range(MINUTES):
            for second in (0, 30):
                passed = minute * 60 + second
                status, _, text = cls.daemon.write(minute_of_web((start + passed) * 1000, passed))
                if status not in (200, 204):
                    raise RuntimeError(f"write answered {status}: {text}")
        cls.daemon.wait_for_tick()
        if cls.recommendations()["cpu"]["confidence_days"] <= (MINUTES - 5) / (24 * 60):
            raise RuntimeError(f"not all minutes are known: {cls.recommendations()}")

    @classmethod
    def recommendations(cls):
        """{resource: item} of container app."""
        status, _, text = cls.daemon.get("/api/v1/recommendations?namespace=shop&workload=web&container=app")
        if status != 200:
            raise RuntimeError(f"recommendations answered {status}: {text}")
        return {item["resource"]: item for item in json.loads(text)["data"]["recommendations"]}

    def explained(self):
        """The workload, and {resource: explanation} of its only container."""
        status, headers, text = self.daemon.get(WEB)
        self.assertEqual(200, status, text)
        self.assertEqual("application/json", headers["Content-Type"])
        workloads = json.loads(text, parse_constant=self.fail)["data"]["workloads"]
        self.assertEqual(1, len(workloads))
        containers = workloads[0]["containers"]
        self.assertEqual(["app"], [container["container"] for container in containers])
        return workloads[0], {each["resource"]: each for each in containers[0]["resources"]}

    def check_error(self, path, status, *parts):
        answered, _, text = self.daemon.get(path)
        self.assertEqual(status, answered, text)
        answer = json.loads(text)
        self.assertEqual("error", answer["status"])
        for part in parts:
            self.assertIn(part, answer["error"])

    def test_the_workload_is_named(self):
        workload, _ = self.explained()
        self.assertEqual(("shop", "deployment", "web"),
                         (workload["namespace"], workload["workload_type"], workload["workload"]))
        self.assertNotIn("cluster", workload)
        self.assertEqual(REPLICAS, workload["replicas"])
        self.assertIn("event_time", workload)
        profile = workload["containers"][0]["profile"]
        self.assertEqual(("default", "tidemark", "container", False, "dynamic", "shown", []),
                         tuple(profile[key] for key in ("name", "preset", "level", "strict", "mode", "effect",
                                                        "profiles_before")))

    def test_what_is_explained_is_what_is_recommended(self):
        _, explained = self.explained()
        recommended = self.recommendations()
        metrics = self.daemon.metrics()
        self.assertEqual(recommended.keys(), explained.keys())
        for resource, item in recommended.items():
            for key in ("recommended_request", "model_request", "lower_bound", "upper_bound", "current_request",
                        "original_request", "samples", "kills", "high_water", "reason"):
                self.assertEqual(item.get(key), explained[resource].get(key), (resource, key))
            value = next(value for (name, labels), value in metrics.items()
                         if name == "tidemark_recommended_request" and {("workload", "web"), ("resource", resource)} <= labels)
            self.assertEqual(value, explained[resource]["recommended_request"])
        self.assertIn("the hours of ", explained["cpu"]["reason"])
        self.assertIn("the highest hours of ", explained["memory"]["reason"])

    def test_the_marks_are_those_of_the_metric(self):
        _, explained = self.explained()
        metrics = self.daemon.metrics()
        for resource, used in (("cpu", CORES), ("memory", BYTES)):
            marks = explained[resource]["high_water"]
            self.assertEqual([0.01, 0.001], [mark["risk"] for mark in marks])
            for mark in marks:
                value = next(value for (name, labels), value in metrics.items() if name == "tidemark_high_water_mark"
                             and {("workload", "web"), ("resource", resource), ("risk", str(mark["risk"]))} <= labels)
                self.assertEqual(value, mark["value"])
                # It never varies: nothing to fit, and the highest is the mark.
                self.assertAlmostEqual(1, value / used, delta=1e-3)
                self.assertFalse(mark["fitted"])
            self.assertEqual("none", explained[resource]["high_water_fit"]["method"])

    def test_the_steps_lead_to_the_request(self):
        _, explained = self.explained()
        for resource, explanation in explained.items():
            steps = explanation["steps"]
            self.assertTrue(steps, resource)
            for step in steps:
                self.assertIn(step["name"], STEPS)
            self.assertEqual(explanation["recommended_request"], steps[-1]["value"])
            before = None
            for step in steps:
                if before is not None and not step["changed"]:
                    # From whole amounts on.
                    self.assertAlmostEqual(before, step["value"], delta=1 if resource == "memory" else 0.001, msg=step)
                before = step["value"]

    def test_the_histogram_is_that_of_the_usage(self):
        _, explained = self.explained()
        histogram = explained["cpu"]["histogram"]
        self.assertEqual(explained["cpu"]["samples"], histogram["samples"])
        self.assertAlmostEqual(1, sum(bucket["weight_ratio"] for bucket in histogram["buckets"]), places=4)
        starts = [bucket["start"] for bucket in histogram["buckets"]]
        self.assertEqual(sorted(starts), starts)
        for bucket in histogram["buckets"]:
            self.assertLess(bucket["start"], bucket.get("end", float("inf")))
        percentiles = [histogram[key] for key in ("p50", "p90", "p95", "p99", "max")]
        self.assertEqual(sorted(percentiles), percentiles)
        # Buckets are at most 5 % wider than the one before.
        self.assertTrue(CORES <= histogram["p90"] <= CORES * 1.1 + 0.01, histogram)
        self.assertEqual(86400, histogram["half_life_seconds"])
        self.assertLess(histogram["first_sample"], histogram["last_sample"])

    def test_correction_says_what_right_sizing_would_do(self):
        _, explained = self.explained()
        correction = explained["cpu"]["correction"]
        self.assertEqual("shown", correction["rule"])
        self.assertFalse(correction["changed"])
        self.assertTrue(correction["what"])

    def test_it_is_a_page_like_the_others(self):
        status, headers, packed = self.daemon.request("GET", WEB, (("Accept-Encoding", "gzip"),))
        self.assertEqual((200, "gzip"), (status, headers["Content-Encoding"]))
        self.assertEqual("success", json.loads(gzip.decompress(packed))["status"])
        status, _, body = self.daemon.request("HEAD", WEB)
        self.assertEqual((200, b""), (status, body))
        status, headers, _ = self.daemon.request("POST", WEB, body=b"")
        self.assertEqual((405, "GET, HEAD"), (status, headers["Allow"]))

    def test_clusters_can_be_asked_for(self):
        self.assertEqual(200, self.daemon.get(WEB + "?cluster=")[0])
        self.check_error(WEB + "?cluster=eu", 404, '"eu"')

    def test_what_is_not_there_is_told_with_what_is_near(self):
        self.check_error("/api/v1/workloads/shop/statefulset/web", 404, "perhaps shop/deployment/web")
        self.check_error("/api/v1/workloads/sh%6fp/deployment/weeb", 404, "perhaps shop/deployment/web")
        self.check_error("/api/v1/workloads/shop%2Fdeployment/web", 400, "{namespace}/{type}/{name}")
        self.check_error("/api/v1/workloads/shop/deployment/", 400, "none empty")
        self.check_error(WEB + "?namespace=shop", 400, "unknown", "cluster")


class RestartTest(unittest.TestCase):
    def test_a_restart_changes_nothing_of_the_explanation(self):
        with Daemon() as daemon:
            start = int(time.time()) // 60 * 60 - 3600
            for minute in range(60):
                self.assertIn(daemon.write(minute_of_web((start + minute * 60) * 1000, minute * 60))[0], (200, 204))

            def containers():
                status, _, text = daemon.get(WEB)
                return json.loads(text)["data"]["workloads"][0]["containers"] if status == 200 else None

            daemon.wait_for_tick()
            before = containers()
            self.assertTrue(before)
            self.assertEqual(0, daemon.stop())
            daemon.start()
            daemon.wait_for_tick()
            self.assertEqual(before, containers())


if __name__ == "__main__":
    unittest.main()
