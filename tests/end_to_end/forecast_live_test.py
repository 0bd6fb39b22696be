#!/usr/bin/env python3
"""What demand will be: a day and a half of a load with a rhythm, models that are trained meanwhile, and a kill.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool forecast_live_test.py
"""

import json
import math
import pathlib
import random
import shutil
import tempfile
import time
import unittest

from history import STEP, History, Series, container
from programs import Daemon, pack, series, total, wait_for

MINUTE = 60
HOUR = 3600
NOW = int(time.time()) // 60 * 60
HOURS = 36
START = NOW - HOURS * HOUR
PODS = ("aaaaa", "bbbbb")
REQUEST = 2.0  # cores of one pod
SEED = 11
# Swings in 24 minutes: who takes the last value for the next is always late.
SWING_MINUTES = 24
CONFIG = "{}"
WEB = {"namespace": "shop", "workload_type": "deployment", "workload": "web"}


def load(seconds):
    """Cores of the whole workload, without noise."""
    return 3 + 1.5 * math.sin(2 * math.pi * seconds / (SWING_MINUTES * MINUTE))


class Stream:
    """The samples of a Deployment of two pods, minute by minute, as counters and facts."""

    def __init__(self):
        noise = random.Random(SEED)
        self.spent = {pod: 0.0 for pod in PODS}
        self.demand = {}  # of each minute, by its start
        self.noise = noise

    def body(self, when):
        """The samples of this moment, a whole minute."""
        used = load(when - MINUTE / 2) * self.noise.gauss(1, 0.02)
        self.demand[when - MINUTE] = used
        out = []
        for pod, share in zip(PODS, (0.6, 0.4)):
            self.spent[pod] += used * share * MINUTE
            name = {"namespace": "shop", "pod": f"web-5c9f7b6d4-{pod}"}
            for metric, labels, value in (
                    ("container_cpu_usage_seconds_total",
                     {**name, "container": "app", "cpu": "total", "id": f"/shop/{pod}"}, self.spent[pod]),
                    ("kube_pod_owner", {**name, "owner_kind": "ReplicaSet", "owner_name": "web-5c9f7b6d4",
                                        "owner_is_controller": "true"}, 1),
                    ("kube_pod_container_resource_requests",
                     {**name, "container": "app", "resource": "cpu", "unit": "core"}, REQUEST)):
                out.append(series({"__name__": metric, **labels}, value, when * 1000))
        for metric, labels, value in (
                ("kube_replicaset_owner", {"namespace": "shop", "replicaset": "web-5c9f7b6d4",
                                           "owner_kind": "Deployment", "owner_name": "web"}, 1),
                ("kube_deployment_spec_replicas", {"namespace": "shop", "deployment": "web"}, len(PODS))):
            out.append(series({"__name__": metric, **labels}, value, when * 1000))
        return pack(b"".join(out))

    def send(self, daemon, first, last):
        for when in range(first, last + 1, MINUTE):
            status, _, answer = daemon.write(self.body(when))
            if status != 204:
                raise AssertionError((status, answer))


def forecast_of(daemon, workload="shop/deployment/web"):
    status, _, body = daemon.get("/api/v1/workloads/" + workload)
    if status != 200:
        return None
    return json.loads(body)["data"]["workloads"][0].get("forecast")


def lines(daemon, *names):
    """{(name, labels): value} of these metrics of the workload."""
    wanted = set(WEB.items())
    return {key: value for key, value in daemon.metrics().items() if key[0] in names and wanted <= key[1]}


class Forecast(unittest.TestCase):
    def trained(self, daemon, at_least):
        def enough():
            return total(daemon.metrics(), "tidemark_forecast_training_activated_total") >= at_least
        wait_for("models are trained", enough, 240)

    def test_a_rhythm_is_learnt_and_survives_a_kill(self):
        stream = Stream()
        with Daemon(CONFIG) as daemon:
            stream.send(daemon, START, START + 10 * HOUR)
            self.trained(daemon, 2)  # both ridges
            stream.send(daemon, START + 10 * HOUR + MINUTE, NOW)
            newest = NOW - MINUTE
            daemon.wait_for_tick()
            metrics = daemon.metrics()
            self.assertAlmostEqual(total(metrics, "tidemark_demand", **WEB), stream.demand[newest], delta=0.02)
            self.assertAlmostEqual(total(metrics, "tidemark_load_ratio", **WEB),
                                   stream.demand[newest] / (len(PODS) * REQUEST), delta=0.01)
            for horizon in (60, 180, 600):
                of = {**WEB, "horizon_seconds": str(horizon)}
                truth = load(newest + horizon + MINUTE / 2)
                expected = total(metrics, "tidemark_forecast_demand", **of)
                self.assertAlmostEqual(expected, truth, delta=0.25, msg=f"{horizon} s ahead")
                self.assertAlmostEqual(total(metrics, "tidemark_forecast_load_ratio", **of),
                                       expected / (len(PODS) * REQUEST), delta=0.001)
                lower = total(metrics, "tidemark_forecast_demand_lower_bound", **of)
                upper = total(metrics, "tidemark_forecast_demand_upper_bound", **of)
                self.assertLess(lower, expected)
                self.assertLess(expected, upper)
                self.assertLess(upper - lower, 1)  # the swing is 3
                coverage = total(metrics, "tidemark_forecast_coverage_ratio", **of)
                self.assertTrue(0.85 <= coverage <= 0.95, coverage)
                # By its own account it is better than the last value, which always is a candidate.
                self.assertEqual(total(metrics, "tidemark_forecast_error_ratio", model="last_value", **of), 1)
                used = [dict(labels)["model"] for (name, labels) in metrics
                        if name == "tidemark_forecast_model_info" and set(of.items()) <= labels]
                self.assertEqual(len(used), 1)
                self.assertNotEqual(used[0], "last_value")
                self.assertLess(total(metrics, "tidemark_forecast_error_ratio", model=used[0], **of), 0.6)
            high = total(metrics, "tidemark_high_water_demand", **WEB)
            self.assertTrue(4.4 < high < 6, high)

            explained = forecast_of(daemon)
            known = [value for value in explained["history"]["values"] if value is not None]
            self.assertAlmostEqual(len(known), HOURS * 60, delta=10)
            self.assertEqual(explained["history"]["step_seconds"], 60)
            self.assertTrue(any(fitted["model"].startswith("ridge") for fitted in explained["models"]), explained["models"])
            self.assertTrue(all(len(past["demand"]) > 60 for past in explained["past"]))
            self.assertIn("expected", explained["summary"])

            names = ("tidemark_forecast_demand", "tidemark_forecast_demand_upper_bound", "tidemark_forecast_model_info",
                     "tidemark_forecast_error_ratio", "tidemark_forecast_coverage_ratio", "tidemark_high_water_demand")
            # What was trained is in the journal: nothing has to be trained again, and nothing is. Nor is anything before the
            # kill, once what was under way has come.
            pathlib.Path(daemon.config).write_text("forecast: {training_budget_ratio: 0}\n")
            self.assertEqual(daemon.request("POST", "/-/reload")[0], 200)
            wait_for("nothing is trained any more", lambda: self.has_settled(daemon))
            explained = forecast_of(daemon)
            before = lines(daemon, *names)
            daemon.kill()
            daemon.start()
            after = wait_for("the forecast is back", lambda: lines(daemon, *names))
            self.assertEqual(total(daemon.metrics(), "tidemark_forecast_training_activated_total"), 0)
            self.assertEqual(self.fits(forecast_of(daemon)), self.fits(explained))
            # Fits that were taken into use between the two looks may have changed a little.
            self.assertEqual(after.keys(), before.keys())
            self.assertEqual(daemon.stop(), 0)
            daemon.start()
            self.assertEqual(wait_for("the forecast is back", lambda: lines(daemon, *names)), after)

    @staticmethod
    def has_settled(daemon):
        seen = total(daemon.metrics(), "tidemark_forecast_training_activated_total")
        daemon.wait_for_tick()
        return total(daemon.metrics(), "tidemark_forecast_training_activated_total") == seen

    @staticmethod
    def fits(explained):
        return {fitted["model"] for fitted in explained["models"]}

    def test_the_past_of_a_prometheus_is_demand_too(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-forecast-"))
        self.addCleanup(shutil.rmtree, folder, True)
        start = NOW - 30 * HOUR
        all_series = container("shop", "web", "aaaaa", start, NOW, 0.4, 3e8)
        # As a counter: the integral of the load.
        swing = SWING_MINUTES * MINUTE / (2 * math.pi)
        all_series[0] = Series(all_series[0].name, all_series[0].labels,
                               lambda when: 1000 + 3 * (when - start) - 1.5 * swing * (
                                   math.cos(when / swing) - math.cos(start / swing)), start, NOW)
        config = json.dumps({"backfill": {"url": "", "range": "2d"}})
        with History(folder, all_series) as prometheus:
            with Daemon(config.replace('"url": ""', f'"url": "{prometheus.url}"')) as daemon:
                found = wait_for("the past of demand", lambda: (
                    lambda explained: explained if explained and explained["history"]["values"] else None)(
                        forecast_of(daemon)))
                known = [value for value in found["history"]["values"] if value is not None]
                self.assertAlmostEqual(len(known), 30 * 60, delta=30)
                first = START_OF(found)
                for at in range(100, 1700, 97):
                    if found["history"]["values"][at] is None:
                        continue
                    middle = first + at * 60 + 30
                    self.assertAlmostEqual(found["history"]["values"][at], load(middle), delta=0.05)
                self.trained(daemon, 1)


def START_OF(explained):
    import calendar
    return calendar.timegm(time.strptime(explained["history"]["start"][:16], "%Y-%m-%dT%H:%M"))


if __name__ == "__main__":
    assert STEP <= MINUTE
    unittest.main(verbosity=2)
