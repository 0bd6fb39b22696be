#!/usr/bin/env python3
"""scripts/bench runs, and its last line is what programs expect. No figure is judged.

usage: TIDEMARK_BIN=build/release/bin/tidemark bench_test.py
"""

import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN_DIR = pathlib.Path(os.environ.get("TIDEMARK_BIN", "build/release/bin/tidemark")).resolve().parent


def bench(*arguments):
    return subprocess.run([ROOT / "scripts/bench", *arguments], text=True, capture_output=True, timeout=300,
                          env=dict(os.environ, TIDEMARK_SKIP_BUILD="1", TIDEMARK_BIN_DIR=str(BIN_DIR)))


class Bench(unittest.TestCase):
    def results(self, name, run):
        self.assertEqual(run.returncode, 0, run.stderr)
        line = json.loads(run.stdout.splitlines()[-1])
        self.assertEqual(line["benchmark"], name)
        self.assertTrue(line["machine"])
        for result in line["results"]:
            self.assertTrue(result["system"])
            self.assertTrue(result["metric"])
            self.assertIsInstance(result["value"], (int, float))
        return line["results"]

    def test_ingest_measures_tidemark_and_the_floor(self):
        results = self.results("ingest", bench("ingest", "--quick"))
        for system in ("tidemark", "floor"):
            metrics = {result["metric"]: result["value"] for result in results
                       if result["system"] == system and result["protocol"] == "1.0"}
            for metric in ("cpu_seconds_per_million_samples", "cold_cpu_seconds_per_million_samples",
                           "samples_per_second", "rss_bytes", "request_p50_seconds", "request_p99_seconds"):
                self.assertIn(metric, metrics, system)
            self.assertGreater(metrics["samples_per_second"], 0)
            self.assertGreater(metrics["rss_bytes"], 1 << 20)

    def test_durability_measures_each_way_to_keep_and_a_restart(self):
        results = self.results("durability", bench("durability", "--quick"))
        for storage in ("always", "interval", "none"):
            metrics = {result["metric"]: result["value"] for result in results if result.get("storage") == storage}
            for metric in ("cpu_seconds_per_million_samples", "samples_per_second", "written_bytes_per_sample"):
                self.assertIn(metric, metrics, storage)
            self.assertGreater(metrics["samples_per_second"], 0)
            # What is not kept is not written.
            self.assertEqual("journal_bytes_per_sample" in metrics, storage != "none")
            if storage == "none":
                self.assertEqual(metrics["written_bytes_per_sample"], 0)
        restart = {result["metric"]: result["value"] for result in results}
        for how in ("ended", "killed"):
            self.assertGreater(restart[f"restart_{how}_ready_seconds"], 0)
        self.assertGreater(restart["restart_killed_replayed_records"], 0)
        self.assertEqual(restart["restart_ended_replayed_records"], 0)

    def test_decode_tells_its_steps(self):
        results = self.results("decode", bench("decode", "--quick"))
        self.assertGreaterEqual(len(results), 8)

    def test_estimator_measures_both_histograms_and_the_naive_one(self):
        results = self.results("estimator", bench("estimator", "--quick"))
        for histogram in ("compact", "exact", "naive"):
            values = {result["step"]: result["value"] for result in results if result.get("histogram") == histogram}
            for step in ("add", "percentile", "recommend", "find_bucket", "merge", "save_checkpoint", "bytes"):
                self.assertGreater(values[step], 0, f"{histogram} {step}")
        # What was not measured here says so.
        self.assertTrue(all(result["measured"] == "elsewhere" for result in results if result["system"] == "vpa"))

    def test_forecast_measures_training_against_its_floor(self):
        results = self.results("forecast", bench("forecast", "--quick", "networks"))
        values = {(result["system"], result["metric"]): result["value"] for result in results}
        for metric in ("iterations_per_second", "together_iterations_per_second", "forecast_seconds", "floor_share_ratio",
                       "together_floor_share_ratio"):
            self.assertGreater(values["tidemark", metric], 0)
        self.assertGreater(values["floor", "openblas_iterations_per_second"], 0)

    def test_kubernetes_asks_by_schedule_and_checks_every_answer(self):
        results = self.results("kubernetes", bench("kubernetes", "--quick"))
        values = {(result["part"], result.get("kind"), result["metric"]): result["value"] for result in results}
        for part in ("without_ingest", "with_ingest"):
            for kind, requests in (("gets", 200), ("admissions", 20)):
                self.assertEqual(values[part, kind, "requests_total"], requests)
                self.assertEqual(values[part, kind, "wrong_answers_total"], 0)
                order = [values[part, kind, f"{name}_seconds"] for name in ("p50", "p90", "p99", "p999", "max")]
                self.assertGreater(order[0], 0)
                self.assertEqual(order, sorted(order))
        for part, kind in (("flat_out", "gets"), ("new_connections", "new_connections")):
            self.assertGreater(values[part, kind, "requests_total"], 0)
            self.assertEqual(values[part, kind, "wrong_answers_total"], 0)
        self.assertGreater(values["ingest", None, "samples_sent_total"], 0)
        self.assertEqual(values["ingest", None, "samples_acknowledged_total"], values["ingest", None, "samples_sent_total"])
        self.assertGreater(values["state", None, "deployments"], 1)

    def test_an_unknown_name_lists_the_known_ones(self):
        run = bench("nonsense")
        self.assertEqual(run.returncode, 2)
        for name in ("ingest", "decode", "durability"):
            self.assertIn(name, run.stderr)
        self.assertNotIn("_re", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
