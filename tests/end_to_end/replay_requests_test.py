#!/usr/bin/env python3
"""tidetool replay requests as a program: over a trace, and over the history of a real Prometheus.

usage: TIDETOOL_BIN=build/release/bin/tidetool replay_requests_test.py
"""

import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

from history import History, Series, container, restarts

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
STEP = 300
HOUR = 3600
DAY = 24 * HOUR
FIELDS = ["trace", "preset", "resource", "slack", "breach_ratio", "breach_depth", "kills_per_pod_day", "changes"]


def tidetool(*arguments):
    return subprocess.run([TIDETOOL, "replay", *arguments], capture_output=True, text=True, timeout=240)


def replay(*arguments):
    result = tidetool("requests", *arguments)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stdout


def rows_of(text):
    rows = json.loads(text)
    return {(row["trace"], row["preset"], row["resource"]): row for row in rows}


def trace_rows(cores, size, steps):
    """A pod's rows of CSV: `cores` and `size` are functions of the step."""
    return [f"{1_700_006_400 + k * STEP},pod-0,{cores(k):.4g},{size(k):.0f}\n" for k in range(steps)]


class Tags(html.parser.HTMLParser):
    """Takes note of what is open, and of what a page would load."""

    VOID = {"meta", "br", "link", "img", "input", "hr"}

    def __init__(self):
        super().__init__()
        self.open = []
        self.seen = {}
        self.loads = []

    def handle_starttag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.loads += [value for name, value in attrs if name in ("src", "href", "xlink:href", "action", "data")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.loads += [value for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes nothing")


class Traces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-replay-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        head = "unix_seconds,pod,cpu_cores,memory_bytes\n"
        steps = 4 * DAY // STEP
        # 0.1 cores at night, 0.4 by day; memory jumps to 3 GB for one step on the fourth day.
        cls.day_and_night = lambda k: 0.1 if (k * STEP % DAY) < DAY // 2 else 0.4
        spike = steps - DAY // STEP // 2
        (cls.folder / "day & <night>.csv").write_text(
            head + "".join(trace_rows(cls.day_and_night, lambda k: 3e9 if k == spike else 1e9, steps)))
        (cls.folder / "flat.csv").write_text(head + "".join(trace_rows(lambda k: 0.2, lambda k: 1e9, steps)))

    def test_json_has_a_row_for_each_trace_preset_and_resource(self):
        text = replay(f"--traces={self.folder}", "--output=json", "--preset=vpa,max,krr")
        rows = json.loads(text)
        self.assertEqual(len(rows), 2 * 3 * 2)
        for row in rows:
            self.assertEqual(list(row)[:8], FIELDS)
        rows = rows_of(text)
        # The maximum of a flat trace is the trace.
        flat = rows["flat", "max", "cpu"]
        self.assertEqual((flat["slack"], flat["breach_ratio"], flat["changes"]), (0, 0, 0))
        # Max 0.4 against a mean of 0.25.
        self.assertAlmostEqual(rows["day & <night>", "max", "cpu"]["slack"], 0.6, places=9)
        # One kill in two days of one pod, by what was never seen before.
        for preset in ("vpa", "max", "krr"):
            spike = rows["day & <night>", preset, "memory"]
            self.assertEqual(spike["kills_per_pod_day"], 0.5)
            self.assertEqual(spike["breach_ratio"], 1 / 576)
        self.assertAlmostEqual(rows["day & <night>", "krr", "memory"]["breach_depth"], 3 / 1.15 - 1, places=9)
        # The bucket's end, 215m, and 15 %.
        self.assertAlmostEqual(rows["flat", "vpa", "cpu"]["slack"], 0.247 / 0.2 - 1, places=9)

    def test_all_presets_run_and_the_table_shows_them(self):
        table = replay(f"--traces={self.folder}", "--at-breach=1%", "--at-kills=0.1")
        for part in ("day & <night>", "flat", "vpa", "oversell", "tidemark", "krr", "max", "Means over workloads: CPU",
                     "at equal risk: CPU, 1 % of samples above the request",
                     "at equal risk: memory, 0.1 kills per pod and day"):
            self.assertIn(part, table)

    def test_the_users_own_profiles_are_replayed(self):
        config = self.folder / "tidemark.yml"
        config.write_text("profiles:\n  - name: flat\n    selector: '{workload=\"flat\"}'\n    preset: oversell\n"
                          "    cpu: {expansion: 2}\n")
        rows = rows_of(replay(f"--traces={self.folder}", "--output=json", "--preset=oversell,config",
                              f"--config.file={config}"))
        self.assertAlmostEqual(rows["flat", "config", "cpu"]["last_request"],
                               2 * rows["flat", "oversell", "cpu"]["last_request"], delta=0.002)
        self.assertNotEqual(rows["day & <night>", "config", "cpu"]["slack"],
                            2 * rows["day & <night>", "oversell", "cpu"]["slack"] + 1)

    def test_the_page_is_one_file_that_loads_nothing(self):
        page = self.folder / "page.html"
        self.assertEqual(replay(f"--traces={self.folder}", "--output=html", f"--output.file={page}"), "")
        text = page.read_text()
        tags = Tags()
        tags.feed(text)
        tags.close()
        self.assertEqual(tags.open, [])
        self.assertEqual(tags.loads, [])
        self.assertEqual(tags.seen.get("svg"), 4)
        self.assertNotIn("script", tags.seen)
        self.assertNotIn("link", tags.seen)
        self.assertIn("day &amp; &lt;night&gt;", text)
        self.assertNotIn("<night>", text)
        doctype, document = text.split("\n", 1)
        self.assertEqual(doctype, "<!DOCTYPE html>")
        xml.etree.ElementTree.fromstring(document)

    def test_wrong_input_is_one_line_that_says_what_is_allowed(self):
        bad = self.folder / "bad" / "bad.csv"
        bad.parent.mkdir(exist_ok=True)
        bad.write_text("unix_seconds,pod,cpu_cores,memory_bytes\n300,a,1,2\n600,a,x,2\n")
        for arguments, code, part in (
                (["scaling", "--traces=x"], 2, "scaling cannot be replayed, allowed: requests"),
                (["requests"], 2, "nothing to replay, allowed: --traces=PATH or --prometheus=URL"),
                (["requests", f"--traces={bad}"], 2, f'{bad}:3: "x" is no usage, allowed: 0 to 1e+06 cores'),
                (["requests", f"--traces={self.folder}/none"], 1, "none: cannot be read, allowed: a CSV file"),
                (["requests", f"--traces={self.folder}", "--preset=kr"], 2, "--preset: kr is no preset"),
                (["requests", f"--traces={self.folder}", "--interval=7m"], 2, "allowed: multiples of the step"),
                (["requests", f"--traces={self.folder}", "--warm-up=5d"], 2, "allowed: a shorter warm-up"),
                (["requests", f"--traces={self.folder}", "--output.file=/nowhere/x"], 1, "/nowhere/x: cannot be written"),
                (["requests", "--prometheus=http://127.0.0.1:1", "--start=-1"], 2, "--start: "),
        ):
            with self.subTest(arguments=arguments):
                result = tidetool(*arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn("error: ", result.stderr)
                self.assertIn(part, result.stderr)
                self.assertEqual(result.stdout, "")

    def test_help(self):
        result = tidetool("requests", "--help")
        self.assertEqual(result.returncode, 0)
        for flag in ("--traces=", "--prometheus=", "--preset=", "--at-breach=", "--at-kills=", "--output="):
            self.assertIn(flag, result.stdout)


class Prometheus(unittest.TestCase):
    """Six hours of two Deployments in blocks of a real server."""

    END = int(time.time()) // STEP * STEP - HOUR
    START = END - 6 * HOUR
    SIZE = 4e8

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-replay-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        first, last = cls.START - HOUR, cls.END + HOUR
        series = (container("shop", "web", "aaaaa", first, last, 0.25, cls.SIZE)
                  + container("shop", "web", "bbbbb", first, last, 0.5, cls.SIZE / 2)
                  + restarts("shop", "web", "aaaaa", first, last, 2, 1e9)
                  + container("shop", "db", "ccccc", first, last, 1, 1e9)
                  + container("other", "web", "ddddd", first, last, 0.125, 1e8))
        series.append(Series("queue_cores", {"team": "blue"}, lambda when: 3, first, last))
        series.append(Series("queue_bytes", {"team": "blue"}, lambda when: 7e8, first, last))
        cls.history = History(cls.folder, series)
        cls.history.__enter__()
        cls.addClassCleanup(cls.history.__exit__)

    def ask(self, *arguments, preset="max"):
        return replay(f"--prometheus={self.history.url}", f"--start={self.START}", f"--end={self.END}",
                      "--warm-up=2h", "--output=json", f"--preset={preset}", *arguments)

    def test_a_workload_of_a_namespace(self):
        rows = rows_of(self.ask("--namespace=shop", "--workload=web"))
        self.assertEqual(set(rows), {("shop/web/app", "max", "cpu"), ("shop/web/app", "max", "memory")})
        cpu = rows["shop/web/app", "max", "cpu"]
        # Both pods request what the larger uses: 0.5 against a mean of 0.375.
        self.assertAlmostEqual(cpu["last_request"], 0.5, places=6)
        self.assertAlmostEqual(cpu["slack"], 0.5 / 0.375 - 1, places=4)
        self.assertLess(cpu["breach_depth"], 1e-6)
        self.assertAlmostEqual(cpu["original_slack"], 2 / 0.375 - 1, places=4)
        # From the end of the warm-up to the end, both ends included.
        self.assertEqual(cpu["samples"], 2 * (4 * HOUR // STEP + 1))
        memory = rows["shop/web/app", "max", "memory"]
        self.assertEqual(memory["last_request"], self.SIZE)
        self.assertAlmostEqual(memory["slack"], 1 / 0.75 - 1, places=9)
        self.assertEqual(memory["kills_per_pod_day"], 0)
        self.assertAlmostEqual(memory["original_slack"], 1e9 / (0.75 * self.SIZE) - 1, places=9)

    def test_all_workloads(self):
        traces = {trace for trace, _, _ in rows_of(self.ask())}
        self.assertEqual(traces, {"shop/web/app", "shop/db/app", "other/web/app"})
        traces = {trace for trace, _, _ in rows_of(self.ask("--workload=deployment/web"))}
        self.assertEqual(traces, {"shop/web/app", "other/web/app"})

    def test_presets_say_what_they_say_of_the_same_trace_as_csv(self):
        csv = self.folder / "db.csv"
        steps = 6 * HOUR // STEP + 1
        csv.write_text("unix_seconds,pod,cpu_cores,memory_bytes\n"
                       + "".join(f"{self.START + k * STEP},db,1,1000000000\n" for k in range(steps)))
        presets = "vpa,oversell,tidemark,krr,max"
        asked = rows_of(self.ask("--namespace=shop", "--workload=db", preset=presets))
        read = rows_of(replay(f"--traces={csv}", "--warm-up=2h", "--output=json", f"--preset={presets}"))
        for (_, preset, resource), row in asked.items():
            with self.subTest(preset=preset, resource=resource):
                other = read["db", preset, resource]
                self.assertAlmostEqual(row["last_request"] / other["last_request"], 1, places=6)
                self.assertAlmostEqual(row["slack"], other["slack"], places=5)

    def test_queries_of_ones_own(self):
        rows = rows_of(self.ask("--query-cpu=queue_cores", "--query-memory=queue_bytes"))
        self.assertEqual(set(rows), {("query", "max", "cpu"), ("query", "max", "memory")})
        self.assertEqual(rows["query", "max", "cpu"]["last_request"], 3)
        self.assertEqual(rows["query", "max", "memory"]["last_request"], 7e8)

    def test_more_points_than_the_server_gives_at_once(self):
        """Twelve thousand minutes of mostly nothing: more than Prometheus' 11,000 points a series."""
        start = self.END - 12_000 * 60
        rows = rows_of(replay(f"--prometheus={self.history.url}", f"--start={start}", f"--end={self.END}", "--step=1m",
                              "--warm-up=196h", "--interval=1h", "--output=json", "--preset=max",
                              "--namespace=shop", "--workload=db"))
        cpu = rows["shop/db/app", "max", "cpu"]
        self.assertAlmostEqual(cpu["last_request"], 1, places=6)
        self.assertEqual(cpu["samples"], 240 + 1)

    def test_what_is_not_there_is_said(self):
        for arguments, part in ((["--namespace=none"], "no kube_pod_owner of none"),
                                (["--namespace=shop", "--workload=none"], "there is no workload none"),
                                (["--query-cpu=none", "--query-memory=none"], "no usage between"),
                                (["--query-cpu=sum(", "--query-memory=up"], "parse error")):
            with self.subTest(arguments=arguments):
                result = tidetool("requests", f"--prometheus={self.history.url}", f"--start={self.START}",
                                  f"--end={self.END}", "--warm-up=2h", *arguments)
                self.assertIn(result.returncode, (1, 2), result.stderr)
                self.assertIn(part, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
