#!/usr/bin/env python3
"""Remote write into Tidemark, Prometheus, VictoriaMetrics and the floor, each alone on one core.

The same bodies for all (tidetool loadgen, a core of its own): one round in which every series is new (cold), then rounds
in which every series is known (steady). CPU is what the system's process has used by /proc, user and kernel together:
wall-clock figures depend on what else the machine does.
"""

import argparse
import sys
import tempfile
import time

from _receivers import INTERVAL_MS, Floor, Prometheus, Tidemark, VictoriaMetrics, load, two_cores
from _report import last_line, machine, table


def measure(kind, protocol, options, cores):
    """Figures of one system; None when it does not take the protocol."""
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as folder:
        system = kind(folder, cores[0])
        try:
            system.wait_until_ready()
            if not system.takes(protocol):
                return None
            start_ms = int(time.time() * 1000) - (options.rounds + 1) * INTERVAL_MS
            idle = system.cpu_seconds()
            cold = load(system, protocol, options.series, 1, start_ms, cores[1])
            between = system.cpu_seconds()
            steady = load(system, protocol, options.series, options.rounds, start_ms + INTERVAL_MS, cores[1])
            end = system.cpu_seconds()
            return {
                "cpu_seconds_per_million_samples": (end - between) / steady["samples_sent"] * 1e6,
                "cold_cpu_seconds_per_million_samples": (between - idle) / cold["samples_sent"] * 1e6,
                "samples_per_second": steady["samples_per_second"],
                "cold_samples_per_second": cold["samples_per_second"],
                "request_p50_seconds": steady["latency_p50_seconds"],
                "request_p99_seconds": steady["latency_p99_seconds"],
                "rss_bytes": system.resident_bytes(),
                "series": steady["series"],
                "generator_cpu_seconds": steady["encode_cpu_seconds"] + steady["send_cpu_seconds"],
            }
        finally:
            system.stop()


def best_of(kind, protocol, options, cores):
    """The run of least CPU, and the least CPU of a cold round: what other jobs take away is not the system's."""
    runs = []
    for _ in range(options.runs):
        figures = measure(kind, protocol, options, cores)
        if figures is None:
            return None
        runs.append(figures)
    best = min(runs, key=lambda figures: figures["cpu_seconds_per_million_samples"])
    cold = min(runs, key=lambda figures: figures["cold_cpu_seconds_per_million_samples"])
    for metric in ("cold_cpu_seconds_per_million_samples", "cold_samples_per_second"):
        best[metric] = cold[metric]
    return best


def main():
    kinds = [Tidemark, VictoriaMetrics, Prometheus, Floor]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="2,000 series and 3 rounds, Tidemark and the floor only")
    parser.add_argument("--series", type=int, help="about so many series (default 100000)")
    parser.add_argument("--rounds", type=int, help="steady rounds after the cold one (default 20)")
    parser.add_argument("--runs", type=int, default=1, help="of each system; the one of least CPU is told (default 1)")
    parser.add_argument("--only", help="systems, separated by commas: " + ",".join(kind.name for kind in kinds))
    options = parser.parse_args()
    if options.targets:
        print("tidemark\ntidetool\ningest_floor")
        return 0
    options.series = options.series or (2000 if options.quick else 100_000)
    options.rounds = options.rounds or (3 if options.quick else 20)
    if options.quick:
        kinds = [Tidemark, Floor]
    if options.only:
        wanted = options.only.split(",")
        unknown = set(wanted) - {kind.name for kind in kinds}
        if unknown:
            parser.error(f"there is no system {', '.join(sorted(unknown))}")
        kinds = [kind for kind in kinds if kind.name in wanted]
    cores = two_cores()

    where = machine()
    rows = []
    results = []
    steady = {}
    for protocol in ("1.0", "2.0"):
        for kind in kinds:
            if protocol not in kind.protocols:
                continue
            if not kind.is_here():
                print(f"{kind.name} is not installed and left out", file=sys.stderr)
                continue
            figures = best_of(kind, protocol, options, cores)
            if figures is None:
                print(f"{kind.name} does not take remote write {protocol} and is left out", file=sys.stderr)
                continue
            steady[kind.name, protocol] = figures["cpu_seconds_per_million_samples"]
            for metric, value in figures.items():
                results.append({"system": kind.name, "protocol": protocol, "metric": metric, "value": round(value, 6)})
            rows.append([f"{kind.name}, {protocol}",
                         f"{figures['cpu_seconds_per_million_samples']:.2f}",
                         f"{figures['cold_cpu_seconds_per_million_samples']:.2f}",
                         f"{figures['samples_per_second']:,.0f}",
                         f"{figures['request_p50_seconds'] * 1e3:.1f}",
                         f"{figures['request_p99_seconds'] * 1e3:.1f}",
                         f"{figures['rss_bytes'] / 2**20:.0f}"])
    if not results:
        print("nothing was measured", file=sys.stderr)
        return 1
    for (name, protocol), value in steady.items():
        ours = steady.get(("tidemark", protocol))
        if ours and name != "tidemark":
            results.append({"system": name, "protocol": protocol, "metric": "cpu_ratio_to_tidemark",
                            "value": round(value / ours, 3)})
    print(f"{options.series} series (about), 1 cold and {options.rounds} steady rounds, 2,000 samples a request, "
          f"4 connections, each system on one core; best of {options.runs}")
    table(["system, protocol", "CPU-s per M samples", "cold", "samples/s", "p50 ms", "p99 ms", "RSS MiB"], rows)
    last_line("ingest", where, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
