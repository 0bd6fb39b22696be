#!/usr/bin/env python3
"""How fast bodies are decoded, step by step, on one core: bench/remote_write/decode_bench.cpp over recorded bodies."""

import argparse
import re
import subprocess
import sys

from _report import BIN, last_line, machine, table

LINE = re.compile(r"^(?P<step>\S.*?)\s+(?P<rate>[\d.]+) M samples/s\s+(?P<cpu>[\d.]+) CPU-s per M samples$")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="nothing changes: it takes a second")
    parser.add_argument("folder", nargs="*", help="*.snappy bodies; default tests/data/payloads")
    options = parser.parse_args()
    if options.targets:
        print("remote_write_decode_bench")
        return 0
    where = machine()
    output = subprocess.run([BIN / "remote_write_decode_bench", *options.folder], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    rows = []
    protocol = ""
    results = []
    for line in output.splitlines():
        found = LINE.match(line)
        if not found:
            protocol = line.split(":", 1)[0]
            print(line)
            continue
        rows.append([f"{protocol} {found['step']}", found["rate"], found["cpu"]])
        for metric, value in (("million_samples_per_second", "rate"), ("cpu_seconds_per_million_samples", "cpu")):
            results.append({"system": "tidemark", "protocol": protocol, "step": found["step"], "metric": metric,
                            "value": float(found[value])})
    if not results:
        print("the benchmark gave no figures", file=sys.stderr)
        return 1
    table(["step, with all before it", "M samples/s", "CPU-s per M samples"], rows)
    last_line("decode", where, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
