#!/usr/bin/env python3
"""What forecasts cost, on one core: bench/forecast.

networks: a BiLSTM of 100 units, 32 windows of 60 minutes an iteration. The floor is the products of matrices of an
iteration and nothing else, by each library that could do them; the peer is libtorch, where Debian's libtorch-dev is
installed. All take turns, figures are of CPU time, and of each the best run counts.

linear: a fit of each model that has to learn for 1,000 workloads with eight days of minutes, the forecasts of one tick
of all linear models for 10,000 workloads, and what the models of one workload take.
"""

import argparse
import os
import pathlib
import subprocess
import sys

from _report import BIN, last_line, machine, table

TORCH_HEADERS = pathlib.Path("/usr/include/torch/csrc/api/include/torch/torch.h")
# More is better of what ends so, less of all others.
RATES = "_per_second"
SHARES = "_share_ratio"


def one_core():
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})


def run(program, arguments, best):
    """Lines `SYSTEM METRIC VALUE` of one run, the better of each kept."""
    output = subprocess.run([program, *arguments], check=True, text=True, stdout=subprocess.PIPE,
                            env=dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")).stdout
    for line in output.splitlines():
        system, metric, value = line.split()
        better = max if metric.endswith((RATES, SHARES)) else min
        key = system, metric
        best[key] = better(best.get(key, float(value)), float(value))


def networks(options, results):
    best = {}
    quick = ["--quick"] if options.quick else []
    torch = BIN / "forecast_torch_bench"
    with_torch = torch.exists() and not options.quick
    for _ in range(1 if options.quick else options.runs):
        run(BIN / "forecast_bench", [*quick, "networks"], best)
        if with_torch:
            run(torch, [], best)
    floors = {metric.removesuffix("_iterations" + RATES): value for (system, metric), value in best.items()
              if system == "floor"}
    library, floor = max(floors.items(), key=lambda found: found[1])
    ours = best["tidemark", "iterations_per_second"]
    together = best["tidemark", "together_iterations_per_second"]
    # Of the floor that was measured before and after it, as long as it; the median of a run.
    together_share = best["tidemark", "together_floor_share_ratio"]
    forecast = best["tidemark", "forecast_seconds"]
    rows = [[f"floor, {name}", f"{rate:.1f}", "-", f"{rate / floor:.0%}"] for name, rate in floors.items()]
    rows += [["tidemark, one workload", f"{ours:.1f}", f"{forecast * 1e3:.3f}", f"{ours / floor:.0%}"],
             ["tidemark, many workloads", f"{together:.1f}", "-", f"{together_share:.0%}"]]
    for (system, metric), value in best.items():
        results.append({"system": system, "part": "networks", "metric": metric, "value": value})
    ratios = {"floor_share_ratio": ours / floor}
    if with_torch:
        rate, seconds = best["libtorch", "iterations_per_second"], best["libtorch", "forecast_seconds"]
        rows.append(["libtorch", f"{rate:.1f}", f"{seconds * 1e3:.3f}", f"{rate / floor:.0%}"])
        ratios |= {"iterations_to_libtorch_ratio": ours / rate, "together_iterations_to_libtorch_ratio": together / rate,
                   "forecast_time_to_libtorch_ratio": forecast / seconds}
    table(["BiLSTM", "iterations/s", "a forecast, ms", f"of the floor ({library})"], rows)
    if with_torch:
        print(f"training {ours / rate:.1f} times libtorch's iterations per second, many workloads {together / rate:.1f} "
              f"times; a forecast in {forecast / seconds:.1%} of libtorch's time")
    elif not options.quick:
        print("libtorch is not installed (scripts/install-deps --bench): nothing to compare with")
    for metric, value in ratios.items():
        results.append({"system": "tidemark", "part": "networks", "metric": metric, "value": value})


def linear(options, results):
    best = {}
    for _ in range(1 if options.quick else options.runs):
        run(BIN / "forecast_bench", ["--quick", "linear"] if options.quick else ["linear"], best)
    table(["models without a network", "value"], [[metric, f"{value:.4g}"] for (_, metric), value in best.items()])
    for (system, metric), value in best.items():
        results.append({"system": system, "part": "linear", "metric": metric, "value": value})


PARTS = {"networks": networks, "linear": linear}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="a moment of each, without the peer")
    parser.add_argument("--runs", type=int, default=3, help="of each program; the best counts (default 3)")
    parser.add_argument("part", nargs="*", metavar="PART", help=f"default all: {', '.join(PARTS)}")
    options = parser.parse_args()
    if options.targets:
        print("forecast_bench")
        if TORCH_HEADERS.exists() and not options.quick:
            print("forecast_torch_bench")
        return 0
    for part in options.part:
        if part not in PARTS:
            parser.error(f"there is no part {part}, allowed: {', '.join(PARTS)}")
    where = machine()
    one_core()
    results = []
    for part in options.part or PARTS:
        PARTS[part](options, results)
    last_line("forecast", where, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
