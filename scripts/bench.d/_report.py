"""What the benchmarks share: where programs are, what the machine is, how results are told."""

import json
import os
import pathlib

BIN = pathlib.Path(os.environ.get("TIDEMARK_BIN_DIR", "build/release/bin"))


def machine():
    """One line about the machine."""
    model = "unknown CPU"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) / 2**20
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} x {model}, {memory:.0f} GiB, load {load:.1f} at the start"


def table(heading, rows):
    """Prints columns as wide as they must be; the first is aligned to the left."""
    rows = [heading] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heading))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def last_line(name, where, results):
    """The JSON object that every benchmark ends with."""
    print(json.dumps({"benchmark": name, "machine": where, "results": results}, separators=(",", ":")), flush=True)
