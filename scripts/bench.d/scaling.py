#!/usr/bin/env python3
"""What replica decisions cost, on one core: bench/scaling.

One tick of decisions for 10,000 workloads, each with days of experience, forecasts being ready: the policy tidemark,
beside hpa and debi. CPU time, the median of the ticks; of several runs the best counts. At most 100 ms are allowed.
"""

import argparse
import os
import subprocess
import sys

from _report import BIN, last_line, machine, table

MOST_SECONDS = 0.1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="100 workloads, once")
    parser.add_argument("--runs", type=int, default=3, help="the best counts (default 3)")
    options = parser.parse_args()
    if options.targets:
        print("scaling_bench")
        return 0
    where = machine()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    best = {}
    for _ in range(1 if options.quick else options.runs):
        command = [BIN / "scaling_bench", *(["100", "3"] if options.quick else [])]
        for line in subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines():
            _, metric, value = line.split()
            best[metric] = min(best.get(metric, float(value)), float(value))
    table(["10,000 decisions" if not options.quick else "100 decisions", "value"],
          [[metric, f"{value:.4g}"] for metric, value in best.items()])
    last_line("scaling", where, [{"system": "tidemark", "part": "decisions", "metric": metric, "value": value}
                                 for metric, value in best.items()])
    if not options.quick and best["tidemark_tick_seconds"] > MOST_SECONDS:
        print(f"a tick takes {best['tidemark_tick_seconds']:.3f} s, allowed: {MOST_SECONDS} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
