#!/usr/bin/env python3
"""Whether training keeps ingest waiting: the latency of remote write with and without it.

One daemon, held to one core, learns some hours of a made-up cluster; then the same load, by schedule and well below what
it can take, is written twice in turn: once nothing is trained (training_budget_ratio: 0, taken over by a reload), once
as many networks as there is time for (training_budget_ratio: 1: all of the core that ingest leaves). The generator has a
core of its own.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from _receivers import Tidemark, two_cores
from _report import BIN, last_line, machine, table

NETWORKS = "workloads: [{selector: '{}', models: [last_value, ridge_30, ridge_60, bilstm], model: bilstm}]"
SPENT = "tidemark_forecast_training_cpu_seconds_total"


class Trainee(Tidemark):
    def __init__(self, folder, core):
        self.config = pathlib.Path(folder, "tidemark.yml")
        self.flags = (f"--config.file={self.config}", "--eval.interval=5s")
        self.budget(0, reload=False)
        super().__init__(folder, core)

    def budget(self, ratio, reload=True):
        self.config.write_text(f"forecast: {{training_budget_ratio: {ratio}, {NETWORKS}}}\n")
        if reload:
            self.process.send_signal(signal.SIGHUP)


def generate(system, options, core, *more):
    output = subprocess.run(
        [BIN / "tidetool", "loadgen", f"--url=http://127.0.0.1:{system.port}{system.path}",
         f"--containers={options.containers}", "--connections=4", "--samples-per-request=2000", "--output=json", *more],
        text=True, stdout=subprocess.PIPE,
        preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if core is not None else None)
    report = json.loads(output.stdout)
    if output.returncode != 0:
        raise SystemExit(f"{system.name} did not take everything: {report}")
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="100 containers, 2 s a run, one pair")
    parser.add_argument("--containers", type=int, help="of the cluster (default 2000)")
    parser.add_argument("--hours", type=float, help="of history before (default 16)")
    parser.add_argument("--seconds", type=int, help="of each run (default 20)")
    parser.add_argument("--rate", type=int, help="samples per second (default 20000)")
    parser.add_argument("--pairs", type=int, help="runs without and with training (default 5)")
    options = parser.parse_args()
    if options.targets:
        print("tidemark\ntidetool")
        return 0
    options.containers = options.containers or (100 if options.quick else 2000)
    options.hours = options.hours or (14 if options.quick else 16)
    options.seconds = options.seconds or (2 if options.quick else 20)
    options.rate = options.rate or (2000 if options.quick else 20_000)
    options.pairs = options.pairs or (1 if options.quick else 5)
    where = machine()
    cores = two_cores()
    runs = {0: [], 1: []}
    spent = {0: 0.0, 1: 0.0}
    took = {0: 0.0, 1: 0.0}
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as place:
        system = Trainee(place, cores[0])
        try:
            system.wait_until_ready()
            rounds = int(options.hours * 60)
            newest_ms = int(time.time() * 1000) - 60_000 * options.pairs * 2
            generate(system, options, cores[1], f"--rounds={rounds}", "--interval=60s",
                     f"--start={newest_ms - rounds * 60_000}")
            for _ in range(options.pairs):
                for budget in (0, 1):
                    system.budget(budget)
                    time.sleep(2)  # what was under way ends, what is wanted begins
                    before, began = system.metric(SPENT), time.monotonic()
                    # Sample times go on by fractions of a second: what is measured is the way of a request.
                    report = generate(system, options, cores[1], f"--rate={options.rate}",
                                      f"--duration={options.seconds}s", "--interval=1s", f"--start={newest_ms}")
                    newest_ms += int(1000 * (report["samples_sent"] / max(1, report["series"]) + 2))
                    spent[budget] += system.metric(SPENT) - before
                    took[budget] += time.monotonic() - began
                    runs[budget].append(report)
        finally:
            system.stop(60)
    results = []
    rows = []
    p99 = {}
    for budget, name in ((0, "none"), (1, "busy")):
        p50 = statistics.median(run["latency_p50_seconds"] for run in runs[budget])
        p99[budget] = statistics.median(run["latency_p99_seconds"] for run in runs[budget])
        used = spent[budget] / took[budget]
        rows.append([name, f"{p50 * 1e3:.2f}", f"{p99[budget] * 1e3:.2f}", f"{used:.2f}"])
        for metric, value in (("request_p50_seconds", p50), ("request_p99_seconds", p99[budget]),
                              ("training_cpu_ratio", used)):
            results.append({"system": "tidemark", "training": name, "metric": metric, "value": round(value, 6)})
    ratio = p99[1] / p99[0] if p99[0] > 0 else 0
    results.append({"system": "tidemark", "metric": "request_p99_ratio", "value": round(ratio, 3)})
    print(f"{options.containers} containers, {options.rate} samples/s, {options.pairs} runs of {options.seconds} s each, "
          "the daemon on one core; medians of the runs")
    table(["training", "p50 ms", "p99 ms", "of a core in training"], rows)
    print(f"p99 with training is {ratio:.2f} times that without")
    last_line("training", where, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
