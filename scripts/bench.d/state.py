#!/usr/bin/env python3
"""How long the state of a large cluster takes to be saved and restored: bench/engine/state.cpp."""

import argparse
import re
import subprocess
import sys

from _report import BIN, last_line, machine, table

STEP = re.compile(r"^(?P<step>save|restore)\s+(?P<seconds>[\d.]+) s\s+(?P<cpu>[\d.]+) CPU-s$")
SIZE = re.compile(r"^(?P<containers>\d+) containers, (?P<series>\d+) series, .* (?P<bytes>\d+) bytes a container$")
MEMORY = re.compile(r"in memory: (?P<bytes>\d+) bytes a container")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="4,000 containers instead of 100,000")
    parser.add_argument("--threads", type=int, default=2, help="shards (default 2)")
    options = parser.parse_args()
    if options.targets:
        print("engine_state_bench")
        return 0
    where = machine()
    containers = 4000 if options.quick else 100_000
    output = subprocess.run([BIN / "engine_state_bench", str(containers), str(options.threads)], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    rows = []
    results = []

    def add(step, metric, value):
        results.append({"system": "tidemark", "step": step, "metric": metric, "value": float(value)})

    for line in output.splitlines():
        if found := STEP.match(line):
            rows.append([found["step"], found["seconds"], found["cpu"]])
            add(found["step"], "seconds", found["seconds"])
            add(found["step"], "cpu_seconds", found["cpu"])
        elif found := SIZE.match(line):
            print(line)
            add("save", "bytes_per_container", found["bytes"])
        elif found := MEMORY.match(line):
            print(line)
            add("restore", "heap_bytes_per_container", found["bytes"])
    if len(results) != 6:
        print("the benchmark gave no figures", file=sys.stderr)
        return 1
    table([f"{containers} containers", "seconds", "CPU-s"], rows)
    last_line("state", where, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
