#!/usr/bin/env python3
"""What a sample, a percentile, a recommendation cost, and a histogram's bytes: bench/estimators/estimator.cpp.

Three histograms do the same in turns: Tidemark's compact one (what the daemon keeps), its exact one (to the last bit
as the VPA's), and a naive port of the VPA's to C++. Beside them figures of the VPA's own code.
"""

import argparse
import re
import subprocess
import sys

from _report import BIN, last_line, machine, table

LINE = re.compile(r"^(?P<system>\w+) (?P<step>\w+) (?P<value>[\d.]+) (?P<unit>ns|B)$")

SYSTEMS = {"compact": "tidemark", "exact": "tidemark", "naive": "naive port"}

STEPS = {
    "add": "add a sample",
    "add_same_minute": "the same, of many containers of one minute",
    "percentile": "one percentile",
    "recommend": "recommend for two containers, CPU and memory",
    "find_bucket": "find a bucket",
    "merge": "merge",
    "save_checkpoint": "VPA's checkpoint",
    "save": "save to the last bit",
    "bytes": "bytes of a histogram with 40 buckets",
}

# Reference figures of another machine, not of this run: the best seen of the VPA's own code (1.8.0-development,
# revision 55c37cd5eb, Go 1.19.8) on 2 virtual cores of an AMD EPYC. Its recommendation merges histograms as well.
REFERENCE = {"add": 88, "percentile": 119, "recommend": 25_000, "find_bucket": 29, "merge": 147, "save_checkpoint": 7800,
             "bytes": 1504}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="2 turns of each instead of 1,000")
    options = parser.parse_args()
    if options.targets:
        print("estimators_bench")
        return 0
    where = machine()
    output = subprocess.run([BIN / "estimators_bench", "2" if options.quick else "1000"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    values = {}
    results = []
    for line in output.splitlines():
        found = LINE.match(line)
        if not found:
            print(line)
            continue
        values[found["step"], found["system"]] = found["value"]
        results.append({"system": SYSTEMS[found["system"]], "histogram": found["system"], "step": found["step"],
                        "metric": "bytes" if found["unit"] == "B" else "nanoseconds", "value": float(found["value"])})
    missing = [step for step in STEPS if (step, "compact") not in values or (step, "exact") not in values]
    if missing:
        print(f"the benchmark gave no figures of {', '.join(missing)}", file=sys.stderr)
        return 1
    for step, value in REFERENCE.items():
        results.append({"system": "vpa", "step": step, "metric": "bytes" if step == "bytes" else "nanoseconds",
                        "value": value, "measured": "elsewhere"})
    table(["ns, best turn", "compact", "exact", "naive port", "VPA, elsewhere"],
          [[name, *(values.get((step, system), "-") for system in SYSTEMS), REFERENCE.get(step, "-")]
           for step, name in STEPS.items()])
    last_line("estimator", where, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
