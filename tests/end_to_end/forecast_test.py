#!/usr/bin/env python3
"""tidetool forecast as a program: over files, and over the history of a real Prometheus.

usage: TIDETOOL_BIN=build/release/bin/tidetool forecast_test.py
"""

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
MINUTE = 60
HOUR = 3600
DAY = 24 * HOUR
FIELDS = ["trace", "class", "horizon_seconds", "model", "error_ratio", "pinball_ratio"]


def tidetool(*arguments):
    return subprocess.run([TIDETOOL, "forecast", *map(str, arguments)], capture_output=True, text=True, timeout=240)


def forecast(*arguments):
    result = tidetool(*arguments)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stdout


def rows_of(text):
    return {(row["trace"], row.get("horizon_seconds"), row.get("model")): row for row in json.loads(text)}


def hourly(when):
    """Half an hour up, half an hour down."""
    return 10 + abs(when / MINUTE % 60 - 30)


def write(path, value, seconds, step=MINUTE):
    rows = [f"{1_700_006_400 + at},{value(1_700_006_400 + at):.4f}\n" for at in range(0, seconds, step)]
    path.write_text("unix_seconds,value\n" + "".join(rows))


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-forecast-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        generator = random.Random(3)
        write(cls.folder / "saw & <tooth>.csv", hourly, 3 * DAY)
        write(cls.folder / "noise.csv", lambda when: 50 + generator.gauss(0, 5), 3 * DAY)
        write(cls.folder / "steps.csv", lambda when: 30 + 10 * math.sin(when / 5000), 3 * DAY, 300)

    def test_json_has_a_row_for_each_trace_horizon_and_model(self):
        text = forecast(self.folder, "--output=json", "--models=ridge_30,holt_winters")
        rows = json.loads(text)
        self.assertEqual(len(rows), (3 + 1) * 3 * (3 + 1))
        for row in rows:
            self.assertEqual(list(row)[:6], FIELDS)
        rows = rows_of(text)
        # What turns every half hour can be seen coming; what is noise is best smoothed.
        self.assertLess(rows["saw & <tooth>", 600, "ridge_30"]["error_ratio"], 0.3)
        self.assertLess(rows["saw & <tooth>", 600, "chosen"]["error_ratio"], 0.5)
        self.assertAlmostEqual(rows["noise", 60, "holt_winters"]["error_ratio"], 1 / math.sqrt(2), delta=0.03)
        for series in ("saw & <tooth>", "noise", "steps", "*"):
            self.assertAlmostEqual(rows[series, 180, "last_value"]["error_ratio"], 1, places=9)
        self.assertNotEqual(rows["saw & <tooth>", 600, "chosen"]["in_use_now"], "last_value")
        self.assertEqual((rows["noise", 60, "chosen"]["step_seconds"], rows["steps", 60, "chosen"]["step_seconds"]),
                         (60, 300))
        self.assertAlmostEqual(rows["noise", 60, "chosen"]["coverage_ratio"], 0.9, delta=0.03)
        self.assertEqual(rows["*", 600, "chosen"]["series"], 3)

    def test_the_table_names_what_is_in_use_and_what_was_interpolated(self):
        table = forecast(self.folder, "--models=ridge_30", "--horizons=2m,15m", "--interval=0.8")
        for part in ("saw & <tooth>: 4320 minutes\n", "interpolated between steps of 300 s", "15m error",
                     "80 % intervals held: 2m ", "in use now, 15m: ridge_30, expects ", "mean over 3 series"):
            self.assertIn(part, table)

    def test_the_page_is_one_file_that_loads_nothing(self):
        page = self.folder / "page.html"
        self.assertEqual(forecast(self.folder, "--models=ridge_30", "--output=html", f"--output.file={page}"), "")
        text = page.read_text()
        tags = Tags()
        tags.feed(text)
        tags.close()
        self.assertEqual((tags.open, tags.loads), ([], []))
        self.assertEqual(tags.seen.get("svg"), 3 * 4)
        self.assertNotIn("script", tags.seen)
        self.assertNotIn("link", tags.seen)
        self.assertIn("saw &amp; &lt;tooth&gt;", text)
        self.assertNotIn("<tooth>", text)
        for part in ('class="truth"', 'class="said"', 'class="band"', "In use now: 1m: "):
            self.assertIn(part, text)
        doctype, document = text.split("\n", 1)
        self.assertEqual(doctype, "<!DOCTYPE html>")
        xml.etree.ElementTree.fromstring(document)

    def test_what_is_too_short_is_said_beside_the_others(self):
        folder = self.folder / "mixed"
        folder.mkdir()
        write(folder / "long.csv", hourly, 2 * DAY)
        write(folder / "short.csv", hourly, 4 * HOUR)
        table = forecast(folder, "--models=ridge_30")
        self.assertIn("short: not tested: ", table)
        self.assertIn("mean over 1 series", table)
        alone = tidetool(folder / "short.csv")
        self.assertEqual((alone.returncode, alone.stdout), (2, ""))
        self.assertIn("short: the demand is known for 240 minutes", alone.stderr)
        self.assertIn("ridge_30", forecast(folder / "short.csv", "--warm-up=1h"))

    def test_wrong_input_is_one_line_that_says_what_is_allowed(self):
        bad = self.folder / "bad" / "bad.csv"
        bad.parent.mkdir(exist_ok=True)
        bad.write_text("unix_seconds,value\n60,1\n120,x\n")
        good = self.folder / "noise.csv"
        for arguments, code, part in (
                ([], 2, "nothing to forecast, allowed: a CSV file or a folder"),
                ([bad], 2, f'{bad}:3: value: "x" is no demand, allowed: 0 to 1e+30'),
                ([self.folder / "none.csv"], 1, "none.csv: cannot be read, allowed: a CSV file"),
                ([good, good], 2, "is unexpected, allowed: flags and [<path>]"),
                ([good, "--models=arma"], 2, "--models: arma is no model, allowed: last_value, "),
                ([good, "--horizons=90s"], 2, "--horizons: 90s is no horizon"),
                ([good, "--query=up"], 2, "--query: it does not go with a path"),
                ([good, f"--output.file={good}"], 2, "is what is tested, allowed: another file"),
                ([good, "--models=day_rise", "--output.file=/nowhere/x"], 1, "/nowhere/x: cannot be written"),
                (["--prometheus=http://127.0.0.1:1", "--query=up", "--start=-1"], 2, "--start: "),
                (["--prometheus=http://127.0.0.1:1"], 2, "--query: it is missing"),
        ):
            with self.subTest(arguments=arguments):
                result = tidetool(*arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn("error: ", result.stderr)
                self.assertIn(part, result.stderr)
                self.assertEqual(result.stdout, "")

    def test_help(self):
        result = tidetool("--help")
        self.assertEqual(result.returncode, 0)
        for part in ("tidetool forecast [<flags>] [<path>]", "--prometheus=", "--query=", "--models=", "--horizons="):
            self.assertIn(part, result.stdout)


class Prometheus(unittest.TestCase):
    """Two and a half days of two series in blocks of a real server."""

    END = int(time.time()) // HOUR * HOUR - HOUR
    START = END - 60 * HOUR

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-forecast-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        series = [Series("queue_length", {"queue": name}, value, cls.START - HOUR, cls.END + HOUR)
                  for name, value in (("a", hourly), ("b", lambda when: 2 * hourly(when + 900)))]
        cls.history = History(cls.folder, series)
        cls.history.__enter__()
        cls.addClassCleanup(cls.history.__exit__)

    def ask(self, *arguments):
        return tidetool(f"--prometheus={self.history.url}", f"--start={self.START}", f"--end={self.END}",
                        "--models=ridge_30", *arguments)

    def test_each_series_of_the_query_is_tested(self):
        result = self.ask("--query=queue_length", "--output=json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = rows_of(result.stdout)
        for name in ("a", "b"):
            row = rows[f'queue_length{{queue="{name}"}}', 600, "ridge_30"]
            self.assertLess(row["error_ratio"], 0.3)
            # Two and a half days less one, less what nothing came after.
            self.assertAlmostEqual(row["scored"], 36 * 60, delta=15)

    def test_an_aggregate_is_named_after_its_query(self):
        result = self.ask("--query=sum(queue_length)")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("sum(queue_length): 3601 minutes\n", result.stdout)

    def test_a_query_without_an_answer(self):
        nothing = self.ask("--query=absent_metric")
        self.assertEqual(nothing.returncode, 1)
        self.assertIn("no demand between", nothing.stderr)
        wrong = self.ask("--query=sum(")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("(query: sum()", wrong.stderr)
        self.assertEqual(wrong.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
