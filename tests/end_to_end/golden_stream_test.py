#!/usr/bin/env python3
"""Eight days of a reference run, sent as remote write: what comes out on /metrics is what the original recommended.

Counters cannot carry a usage to the last bit, so each amount may be one bucket (5 %) away. The run is moved by some
seconds so that its samples end whole minutes, as usage is counted in those; nothing else of it changes.
"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from programs import Daemon, pack, series, total, wait_for  # noqa: E402

FOLDER = os.environ.get("TIDEMARK_GOLDEN") or pathlib.Path(__file__).parent.parent / "data" / "golden"
MINUTE = 60
CONFIG = "estimation: {preset: vpa, strict: true}\n"
MINUTES_A_BODY = 500
BUCKET = 1.05
# The smallest buckets are wider than 5 %; a whole unit is lost by truncation.
CPU_SLACK = 0.001
FIELDS = {"target": "tidemark_recommended_request", "lower_bound": "tidemark_recommended_request_lower_bound",
          "upper_bound": "tidemark_recommended_request_upper_bound"}
LABELS = {"namespace": "shop", "pod": "db-0", "container": "main"}


def cpu_series(value, time_ms):
    return series(dict(LABELS, __name__="container_cpu_usage_seconds_total", cpu="total", id="/db-0"), value, time_ms)


def memory_series(value, time_ms):
    return series(dict(LABELS, __name__="container_memory_working_set_bytes", id="/db-0"), value, time_ms)


def owner_series(time_ms):
    return series({"__name__": "kube_pod_owner", "namespace": "shop", "pod": "db-0", "uid": "u", "owner_kind": "StatefulSet",
                   "owner_name": "db", "owner_is_controller": "true"}, 1.0, time_ms)


class GoldenStreamTest(unittest.TestCase):
    def test_a_recorded_stream_gives_the_recommendations_of_the_original(self):
        case = json.loads((pathlib.Path(FOLDER) / "vpa" / "recommender_minutely.json").read_text())["cases"][0]
        self.assertEqual(case["step_seconds"], MINUTE)
        stream = case["streams"][0]
        start = case["start"] + -case["start"] % MINUTE
        end = start + case["ticks"] * MINUTE
        compared = 0
        with Daemon(CONFIG, flags=[f"--clock.start={end * 1000}"]) as daemon:
            used = 0.0
            sent = 0
            first = owner_series(start * 1000) + cpu_series(used, (start - MINUTE) * 1000)
            self.assertEqual(daemon.write(pack(first))[0], 204)
            for result in case["results"]:
                while sent <= result["after_tick"]:
                    upto = min(sent + MINUTES_A_BODY, result["after_tick"] + 1)
                    body = owner_series((start + sent * MINUTE) * 1000 + 1)
                    for tick in range(sent, upto):
                        time_ms = (start + tick * MINUTE) * 1000
                        used += stream["cpu_millicores"][tick] / 1000 * MINUTE
                        body += memory_series(float(stream["memory_bytes"][tick]), time_ms - 30_000)
                        body += cpu_series(used, time_ms)
                    self.assertEqual(daemon.write(pack(body))[0], 204)
                    sent = upto
                # A level's minute is over when the next begins.
                time_ms = (start + result["after_tick"] * MINUTE) * 1000
                self.assertEqual(daemon.write(pack(memory_series(1.0, time_ms + 1000)))[0], 204)
                compared += self.compare(daemon, result)
        self.assertEqual(compared, 6 * len(case["results"]))
        print(f"{compared} amounts compared over {sent} minutes", file=sys.stderr)

    def compare(self, daemon, result):
        ticks = total(daemon.metrics(), "tidemark_engine_ticks_total")
        wait_for("two ticks", lambda: total(daemon.metrics(), "tidemark_engine_ticks_total") >= ticks + 2)
        metrics = daemon.metrics()
        expected = result["containers"]["main"]
        compared = 0
        for field, metric in FIELDS.items():
            for resource, key, scale in (("cpu", "cpu_millicores", 1000), ("memory", "memory_bytes", 1)):
                wanted = expected[field][key] / scale
                found = [value for (name, labels), value in metrics.items()
                         if name == metric and {("resource", resource), ("workload", "db")} <= labels]
                self.assertEqual(len(found), 1, (metric, resource))
                slack = CPU_SLACK if resource == "cpu" else 1
                place = f"{field} of {resource} after tick {result['after_tick']}: {found[0]}, reference {wanted}"
                self.assertLessEqual(found[0], wanted * BUCKET + slack, place)
                self.assertGreaterEqual(found[0], wanted / BUCKET - slack, place)
                compared += 1
        return compared


if __name__ == "__main__":
    unittest.main(verbosity=2)
