#!/usr/bin/env python3
"""tidetool replay as a program: policies over files, over the history of a real Prometheus, and against the reference.

usage: TIDETOOL_BIN=build/release/bin/tidetool replay_test.py
"""

import csv
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

from history import History, Series
from replay_requests_test import Tags

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
TRACES = pathlib.Path(os.environ.get("TIDEMARK_TRACES", "../shared/traces"))
GOLDEN = pathlib.Path(os.environ.get("TIDEMARK_GOLDEN", "tests/data/golden"))
LONG = os.environ.get("TIDEMARK_LONG") == "1"
MINUTE = 60
HOUR = 3600
DAY = 24 * HOUR
START = 1_700_006_400
FIELDS = ["trace", "class", "policy", "utilization_ratio", "cost_ratio", "pod_minutes", "minutes_over_100_per_day",
          "minutes_over_90_per_day", "unserved_ratio", "scale_events_per_day"]


def tidetool(*arguments, timeout=300):
    return subprocess.run([TIDETOOL, "replay", *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", timeout=timeout)


def replay(*arguments, timeout=300):
    result = tidetool(*arguments, timeout=timeout)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stdout


def rows_of(text):
    return {(row["trace"], row["policy"]): row for row in json.loads(text)}


def write(path, values, step=MINUTE):
    path.write_text("unix_seconds,value\n" + "".join(f"{START + i * step},{value}\n" for i, value in enumerate(values)))


def hpa(demand, target, startup=2, least=1, most=50, warm_up=1440):
    """The loop in a few lines of its own: demand in pods' worth by minute."""
    clamp = lambda pods: min(max(pods, least), most)
    spec = [clamp(math.ceil(demand[0] / 0.5 - 1e-9))]
    recommended = []
    for t, load in enumerate(demand):
        ratio = load / spec[t] / target
        wanted = spec[t] if abs(ratio - 1) <= 0.1 + 1e-9 else math.ceil(spec[t] * ratio - 1e-9)
        recommended.append(clamp(wanted))
        spec.append(max(recommended[max(0, t - 4):]))
    ready = [min(spec[max(0, t - startup):t + 1]) for t in range(len(demand))]
    measured = range(warm_up, len(demand))
    used = sum(demand[t] for t in measured)
    pods = sum(spec[t] for t in measured)
    days = len(measured) / 1440
    return {"utilization_ratio": used / pods,
            "pod_minutes": pods,
            "minutes_over_100_per_day": sum(demand[t] > ready[t] for t in measured) / days,
            "minutes_over_90_per_day": sum(demand[t] > 0.9 * ready[t] for t in measured) / days,
            "unserved_ratio": sum(max(0, demand[t] - ready[t]) for t in measured) / used,
            "replicas_min": min(spec[t] for t in measured),
            "replicas_max": max(spec[t] for t in measured),
            "scale_events_per_day": sum(spec[t] != spec[t - 1] for t in measured if t > warm_up) / days}


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.outside = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-replay-"))
        cls.addClassCleanup(shutil.rmtree, cls.outside, True)
        cls.folder = cls.outside / "traces"
        cls.folder.mkdir()
        chance = random.Random(3)
        cls.waves = [round(8 + 5 * math.sin(t / 40) + chance.random() + (12 if t % 333 < 4 else 0), 2)
                     for t in range(2 * 1440)]
        cls.steps = [round(30 + 20 * math.sin(t / 30) + 5 * chance.random(), 1) for t in range(2 * 288)]
        write(cls.folder / "waves & <more>.csv", cls.waves)
        write(cls.folder / "steps.csv", cls.steps, 300)
        (cls.folder / "manifest.csv").write_text(
            "file,class,unit,pods_per_unit\nwaves & <more>.csv,periodic,pods,\nsteps.csv,smooth,percent,0.25\n")

    def test_json_is_what_the_loop_gives(self):
        text = replay(f"--traces={self.folder}", "--policy", "hpa@50,hpa@70,debi", "--startup", "3m", "--output", "json")
        rows = json.loads(text)
        self.assertEqual([(row["trace"], row["class"], row["policy"]) for row in rows],
                         [(trace, kind, policy)
                          for trace, kind in (("waves & <more>", "periodic"), ("steps", "smooth"))
                          for policy in ("hpa@50", "hpa@70", "debi", "hpa@60")])
        for row in rows:
            self.assertEqual(list(row)[:10], FIELDS)
        rows = rows_of(text)
        between = [a + (b - a) * i / 5 for a, b in zip(self.steps, self.steps[1:]) for i in range(5)] + self.steps[-1:]
        for trace, demand in (("waves & <more>", self.waves), ("steps", [value * 0.25 for value in between])):
            baseline = hpa(demand, 0.5, 3)
            for target in (50, 60, 70):
                with self.subTest(trace=trace, target=target):
                    row = rows[trace, f"hpa@{target}"]
                    expected = hpa(demand, target / 100, 3)
                    for field, value in expected.items():
                        self.assertAlmostEqual(row[field], value, places=9, msg=field)
                    self.assertAlmostEqual(row["cost_ratio"], expected["pod_minutes"] / baseline["pod_minutes"], places=9)
        self.assertGreater(rows["waves & <more>", "hpa@70"]["minutes_over_100_per_day"], 0)
        self.assertEqual(rows["steps", "hpa@50"]["step_seconds"], 300)

    def test_requests_and_bounds(self):
        trace = self.folder / "waves & <more>.csv"
        rows = rows_of(replay(f"--traces={trace}", "--policy=hpa", "--request=500m", "--min-replicas=4",
                              "--max-replicas=30", "--output=json"))
        expected = hpa([value / 0.5 for value in self.waves], 0.5, least=4, most=30)
        row = rows["waves & <more>", "hpa"]
        self.assertEqual(row["class"], "periodic")
        for field, value in expected.items():
            self.assertAlmostEqual(row[field], value, places=9, msg=field)
        self.assertAlmostEqual(row["cost"], 0.5 * expected["pod_minutes"], places=6)
        self.assertEqual(row["replicas_max"], 30)
        self.assertEqual(row, {**rows["waves & <more>", "hpa@50"], "policy": "hpa"})
        # Of a trace in pods' worth the request is a price.
        plain = rows_of(replay(f"--traces={self.folder}/steps.csv", "--policy=hpa", "--output=json"))["steps", "hpa"]
        dear = rows_of(replay(f"--traces={self.folder}/steps.csv", "--policy=hpa", "--request=5",
                              "--output=json"))["steps", "hpa"]
        self.assertEqual(dear["cost"], 5 * plain["cost"])
        self.assertEqual(dear["pod_minutes"], plain["pod_minutes"])

    def test_the_same_bytes_twice_in_every_form(self):
        for form in ("table", "json", "csv", "html"):
            with self.subTest(form=form):
                arguments = (f"--traces={self.folder}", "--policy=debi,debi-paper,tidemark", f"--output={form}")
                self.assertEqual(replay(*arguments), replay(*arguments))

    def test_the_table_has_means_by_class_and_at_equal_minutes(self):
        table = replay(f"--traces={self.folder}", "--policy=debi,debi-paper,tidemark@1", "--startup=90s")
        for part in ("2 traces, 2876 minutes measured, after 1d of each", "serves 1m30s (counted as 2m) after",
                     "1 to 50 replicas", "debi-paper: U_lo 30 %, U_hi 70 %, tolerance 10 %, window 5m, high-water risk 0.1",
                     "steps (smooth): 1436 minutes measured, straight lines between steps of 300 s, which flatters",
                     "mean over 1 trace of class periodic", "mean over 2 traces", "perfect forecast at 90 %",
                     "objective: above 90 % in no more than 1 % of minutes; reached: ", "with U_hi ", "with target "):
            self.assertIn(part, table)
        alone = replay(f"--traces={self.folder}/steps.csv", "--policy=debi")
        self.assertNotIn("mean over", alone)

    def test_csv_has_perfect_forecasts_and_means(self):
        text = replay(f"--traces={self.folder}", "--policy=debi", "--output=csv")
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual(len(rows), (2 + 2 + 1) * 5)
        self.assertEqual(list(rows[0])[:10], FIELDS)
        means = {(row["class"], row["policy"]): row for row in rows if row["trace"] == "*"}
        ones = {row["trace"]: row for row in rows if row["policy"] == "debi" and row["trace"] != "*"}
        self.assertAlmostEqual(float(means["*", "debi"]["cost_ratio"]),
                               sum(float(row["cost_ratio"]) for row in ones.values()) / 2)
        self.assertEqual(means["smooth", "debi"]["cost_ratio"], ones["steps"]["cost_ratio"])
        perfect = means["*", "perfect forecast at 90 %"]
        self.assertEqual(float(perfect["minutes_over_100_per_day"]), 0)
        self.assertLess(float(perfect["cost_ratio"]), 0.8)

    def test_every_minute(self):
        minutes = self.outside / "minutes.csv"
        rows = rows_of(replay(f"--traces={self.folder}", "--policy=debi", "--output=json", f"--minutes={minutes}"))
        seen = list(csv.DictReader(minutes.read_text().splitlines()))
        of_debi = [row for row in seen if row["policy"] == "debi" and row["trace"] == "waves & <more>"]
        self.assertEqual([float(row["demand"]) for row in of_debi], self.waves)
        self.assertEqual(int(of_debi[7]["unix_seconds"]), START + 7 * MINUTE)
        measured = [row for row in of_debi if row["is_measured"] == "1"]
        row = rows["waves & <more>", "debi"]
        self.assertEqual(sum(int(one["replicas"]) for one in measured), row["pod_minutes"])
        self.assertEqual(sum(float(one["demand"]) > int(one["ready"]) for one in measured), row["minutes_over_100"])
        for before, after in zip(of_debi, of_debi[1:]):
            self.assertEqual(before["target"], after["replicas"])
        self.assertTrue({"load", "within_tolerance"} < {one["reason"] for one in of_debi})
        with_forecast = [one for one in measured if one["forecast"]]
        self.assertGreater(len(with_forecast), 1000)
        inside = [float(now["forecast_lower"]) <= float(then["demand"]) <= float(now["forecast_upper"])
                  for now, then in zip(measured, measured[3:]) if now["forecast_lower"]]
        self.assertGreater(sum(inside) / len(inside), 0.8)

    def test_the_page_is_one_file_that_loads_nothing(self):
        page = self.outside / "page.html"
        self.assertEqual(replay(f"--traces={self.folder}", "--policy=debi,tidemark", "--output=html",
                                f"--output.file={page}"), "")
        text = page.read_text()
        tags = Tags()
        tags.feed(text)
        tags.close()
        self.assertEqual((tags.open, tags.loads), ([], []))
        self.assertEqual(tags.seen.get("svg"), 2 * 4)
        self.assertNotIn("script", tags.seen)
        self.assertNotIn("link", tags.seen)
        self.assertNotIn("url(", text)
        self.assertIn("waves &amp; &lt;more&gt;", text)
        self.assertNotIn("<more>", text)
        for part in ('class="truth"', 'class="line p0"', 'class="band"', "mean over 2 traces"):
            self.assertIn(part, text)
        doctype, document = text.split("\n", 1)
        self.assertEqual(doctype, "<!DOCTYPE html>")
        xml.etree.ElementTree.fromstring(document)

    def test_a_network_is_trained_when_asked_for(self):
        short = self.outside / "short.csv"
        write(short, self.waves[:840])
        minutes = self.outside / "network.csv"
        rows = rows_of(replay(f"--traces={short}", "--policy=lstm-hpa", "--networks", "--warm-up=10h", "--output=json",
                              f"--minutes={minutes}"))
        self.assertEqual(rows["short", "lstm-hpa"]["minutes"], 240)
        planned = [row for row in csv.DictReader(minutes.read_text().splitlines()) if row["policy"] == "lstm-hpa" and row["forecast"]]
        self.assertGreater(len(planned), 60)  # from its first training on
        for row in planned:
            self.assertLess(abs(float(row["forecast"]) - float(row["demand"])), 30)

    def test_wrong_input_is_one_line_that_says_what_is_allowed(self):
        bad = self.outside / "bad"
        bad.mkdir()
        good = f"--traces={self.folder}/steps.csv"
        files = {}
        for name, text in (("empty", ""), ("head", "unix_seconds,value\n"), ("word", "unix_seconds,value\n60,1\n120,x\n"),
                           ("minus", "unix_seconds,value\n60,1\n120,-1\n"), ("back", "unix_seconds,value\n60,1\n60,1\n"),
                           ("bytes", "\x00\xff\n,,\n"), ("huge", "unix_seconds,value\n60,1\n120,1e99\n")):
            files[name] = bad / f"{name}.csv"
            files[name].write_bytes(text.encode("latin-1"))
        pods = self.outside / "pods"
        pods.mkdir()
        write(pods / "a.csv", self.waves)
        (pods / "manifest.csv").write_text("file,pods_per_unit\na.csv,0\n")
        for arguments, code, part in (
                ([], 2, "nothing to replay, allowed: --traces=PATH or --prometheus=URL"),
                (["scaling", good], 2, "scaling cannot be replayed, allowed: requests"),
                ([good, "--policy=keda"], 2, "--policy: keda is no policy, allowed: hpa, arima-hpa, lstm-hpa"),
                ([good, "--policy=hpa@0.6"], 2, "did you mean hpa@60?"),
                ([good, "--policy=bilstm-hpa"], 2, "allowed: with --networks"),
                ([good, "--policy=debi", "--slo-time=1%"], 2, "--slo-time: no policy reads it"),
                ([good, "--min-replicas=5", "--max-replicas=4"], 2, "--min-replicas: 5 is above --max-replicas, 4"),
                ([good, "--warm-up=3d"], 2, "steps: demand: it is known for 2876 minutes"),
                ([f"--traces={self.folder}", f"--minutes={self.folder}/m.csv"], 2, "--minutes: "),
                ([good, f"--output.file={self.folder}/steps.csv"], 2, "--output.file: "),
                ([good, "--policy=hpa", "--minutes=/nowhere/m.csv"], 1, "--minutes: /nowhere/m.csv cannot be written"),
                ([good, "--policy=hpa", "--output.file=/nowhere/x"], 1, "/nowhere/x: cannot be written"),
                ([f"--traces={self.folder}/none.csv"], 1, "none.csv: cannot be read, allowed: a CSV file"),
                ([f"--traces={files['empty']}"], 2, 'empty.csv:1: "" is not the first line of a demand'),
                ([f"--traces={files['head']}"], 2, "0 values, allowed: at least 2"),
                ([f"--traces={files['word']}"], 2, 'word.csv:3: value: "x" is no demand'),
                ([f"--traces={files['minus']}"], 2, 'value: "-1" is no demand'),
                ([f"--traces={files['back']}"], 2, "60 comes after 60, allowed: rows sorted by time"),
                ([f"--traces={files['bytes']}"], 2, "is not the first line of a demand"),
                ([f"--traces={files['huge']}"], 2, "is no demand"),
                ([f"--traces={pods}"], 2, 'manifest.csv:2: pods_per_unit: "0" is no number of pods'),
                (["--prometheus=http://127.0.0.1:1", "--query=up"], 2, "--request: it is missing"),
        ):
            with self.subTest(arguments=arguments):
                result = tidetool(*arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn("error: ", result.stderr)
                self.assertIn(part, result.stderr)
                self.assertEqual(result.stdout, "")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["manifest.csv", "steps.csv", "waves & <more>.csv"])

    def test_help_of_both_replays(self):
        for arguments, part in ((["--help"], "--policy="), (["requests", "--help"], "--preset="),
                                (["--traces", "requests", "--help"], "--policy=")):
            result = tidetool(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn(part, result.stdout)


class Prometheus(unittest.TestCase):
    """A day and a half of a Deployment's CPU in blocks of a real server."""

    END = int(time.time()) // HOUR * HOUR - HOUR
    FROM = END - 30 * HOUR

    @classmethod
    def load(cls, when):
        return 3 + 2 * math.sin((when - cls.FROM) / 2000)

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-replay-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        first, last = cls.FROM - HOUR, cls.END + HOUR

        def seconds(share):  # the integral of share × load
            return lambda when: share * (3 * (when - first) - 4000 * (math.cos((when - cls.FROM) / 2000) - 1)) + 5000

        series = [Series("container_cpu_usage_seconds_total",
                         {"namespace": "shop", "pod": f"web-5c9f7b6d4-{pod}", "container": container}, seconds(share),
                         first, last)
                  for pod, container, share in (("aaaaa", "app", 0.75), ("bbbbb", "app", 0.25), ("bbbbb", "", 0.5))]
        series.append(Series("queue_length", {"queue": "a"}, lambda when: round(10 * cls.load(when)), first, last))
        series.append(Series("queue_length", {"queue": "b"}, lambda when: 5, first, last))
        cls.history = History(cls.folder, series)
        cls.history.__enter__()
        cls.addClassCleanup(cls.history.__exit__)

    def ask(self, *arguments):
        return tidetool(f"--prometheus={self.history.url}", f"--start={self.FROM}", f"--end={self.END}",
                        "--warm-up=10h", "--output=json", *arguments)

    def test_the_cpu_of_a_deployment(self):
        result = self.ask('--query=sum(rate(container_cpu_usage_seconds_total{namespace="shop",'
                          'pod=~"web-[a-z0-9]+-[a-z0-9]+",container!=""}[2m]))', "--request=500m", "--policy=debi")
        self.assertEqual(result.returncode, 0, result.stderr)
        row = next(row for row in json.loads(result.stdout) if row["policy"] == "hpa@50")
        demand = [self.load(self.FROM + t * MINUTE - MINUTE) / 0.5 for t in range(30 * 60 + 1)]  # a rate looks back
        expected = hpa(demand, 0.5, warm_up=600)
        self.assertAlmostEqual(row["utilization_ratio"], expected["utilization_ratio"], delta=0.01)
        self.assertAlmostEqual(row["pod_minutes"] / expected["pod_minutes"], 1, delta=0.01)
        self.assertEqual(row["minutes"], 20 * 60 + 1)

    def test_each_series_is_replayed_by_itself(self):
        result = self.ask("--query=queue_length", "--request=4", "--policy=hpa")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = rows_of(result.stdout)
        demand = [round(10 * self.load(self.FROM + t * MINUTE)) / 4 for t in range(30 * 60 + 1)]
        for field, value in hpa(demand, 0.5, warm_up=600).items():
            self.assertAlmostEqual(rows['queue_length{queue="a"}', "hpa"][field], value, places=9, msg=field)
        self.assertEqual(rows['queue_length{queue="b"}', "hpa"]["scale_events_per_day"], 0)

    def test_a_query_without_an_answer(self):
        nothing = self.ask("--query=absent_metric", "--request=1")
        self.assertEqual(nothing.returncode, 1)
        self.assertIn("no demand between", nothing.stderr)
        wrong = self.ask("--query=sum(", "--request=1")
        self.assertEqual(wrong.returncode, 2)
        self.assertEqual(wrong.stderr.count("\n"), 1)


@unittest.skipUnless((TRACES / "manifest.csv").exists() and (GOLDEN / "forecast/replay_baseline.json").exists(),
                     "skipped: no traces")
class Reference(unittest.TestCase):
    def test_counts_of_the_hpa_are_those_of_the_reference(self):
        golden = json.loads((GOLDEN / "forecast/replay_baseline.json").read_text())
        for startup in (1, 2):
            rows = rows_of(replay(f"--traces={TRACES}", "--policy=hpa@40", f"--startup={startup}m", "--output=json"))
            compared = 0
            for one in golden:
                row = rows.get((one["trace"].removesuffix(".csv"), one["policy"].replace("hpa", "hpa@")))
                if one["startup_minutes"] != startup or row is None:
                    continue
                compared += 1
                for ours, theirs in (("minutes",) * 2, ("pod_minutes",) * 2, ("minutes_over_100",) * 2,
                                     ("minutes_over_90",) * 2):
                    self.assertEqual(row[ours], one[theirs], (one["trace"], one["policy"], ours))
                self.assertEqual(round(row["scale_events_per_day"] * row["minutes"] / 1440), one["scale_events"])
                self.assertAlmostEqual(row["unserved_ratio"], one["unserved_fraction"], places=12)
                self.assertEqual(row["class"], one["cls"])
            self.assertEqual(compared, 14 * 4)

    def test_class_means_with_the_cheap_models(self):
        text = replay(f"--traces={TRACES}", "--policy=debi,tidemark", "--output=csv")
        means = {(row["class"], row["policy"]): row for row in csv.DictReader(text.splitlines()) if row["trace"] == "*"}
        # Minutes short of HPA at 50 %, and what is left of its cost with a perfect forecast.
        for kind, minutes, cost in (("periodic", 1.42, 0.597), ("smooth", 6.69, 0.590), ("fluctuating", 32.97, 0.643)):
            with self.subTest(kind=kind):
                baseline, perfect = means[kind, "hpa@50"], means[kind, "perfect forecast at 90 %"]
                self.assertAlmostEqual(float(baseline["minutes_over_100_per_day"]), minutes, delta=0.005)
                self.assertAlmostEqual(float(perfect["cost_ratio"]), cost, delta=0.0005)
                self.assertEqual(float(perfect["minutes_over_100_per_day"]), 0)
                self.assertLess(float(means[kind, "debi"]["cost_ratio"]), 1)
                for policy in ("debi", "tidemark"):
                    row = means[kind, policy]
                    self.assertGreater(float(row["equal_minutes_cost_ratio"]), cost)
                    self.assertLessEqual(float(row["equal_minutes_over_100_per_day"]), minutes + 0.005)


@unittest.skipUnless(LONG and (TRACES / "manifest.csv").exists(), "skipped: TIDEMARK_LONG is not 1, or no traces")
class Networks(unittest.TestCase):
    def test_networks_over_all_traces(self):
        rows = rows_of(replay(f"--traces={TRACES}", "--policy=bilstm-hpa,evt-bilstm-hpa,lstm-hpa", "--networks",
                              "--output=json", timeout=4 * HOUR))
        self.assertEqual(len(rows), 14 * 6)
        traces = {trace for trace, _ in rows}
        mean = lambda policy: sum(rows[trace, policy]["minutes_over_100_per_day"] for trace in traces) / len(traces)
        # Who sees what comes is short less often than who does not.
        self.assertLess(mean("bilstm-hpa"), mean("hpa@50"))
        self.assertLessEqual(mean("bilstm-hpa"), mean("evt-bilstm-hpa"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
