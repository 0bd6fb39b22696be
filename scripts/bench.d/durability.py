#!/usr/bin/env python3
"""What it costs Tidemark to lose nothing, and how soon it is back.

First remote write with every write waited for on the disk (always), with a wait each second (interval) and with nothing
kept (none); VictoriaMetrics and Prometheus, which keep what they receive too, beside it. The same load as in ingest: a
cold round, then rounds in which every series is known; the server on one core, the generator on another.

Then a restart with the state of many containers: ended in order (SIGTERM), and killed (SIGKILL) right after the load,
when a checkpoint is old and the journal long. Data lies in a directory below $TMPDIR: choose the disk with it.
"""

import argparse
import pathlib
import sys
import tempfile
import time

from _receivers import INTERVAL_MS, Prometheus, Tidemark, VictoriaMetrics, load, two_cores
from _report import last_line, machine, table


PAYLOAD = "tidemark_storage_journal_payload_bytes_total"


class Always(Tidemark):
    name = "tidemark"
    label = "always"
    flags = ("--storage.sync=always",)


class Interval(Tidemark):
    name = "tidemark"
    label = "interval"
    flags = ("--storage.sync=interval",)


class Nothing(Tidemark):
    name = "tidemark"
    label = "none"

    def command(self):
        return [part for part in super().command() if not str(part).startswith("--storage.path=")] + ["--storage.path="]


def folder():
    return tempfile.TemporaryDirectory(prefix="tidemark-bench-")


def write(kind, options, cores):
    """Figures of remote write into one system."""
    with folder() as place:
        system = kind(place, cores[0])
        try:
            system.wait_until_ready()
            start_ms = int(time.time() * 1000) - (options.rounds + 1) * INTERVAL_MS
            load(system, "1.0", options.series, 1, start_ms, cores[1])
            keeps = kind in (Always, Interval)
            payload = system.metric(PAYLOAD) if keeps else 0
            cpu, written = system.cpu_seconds(), system.written_bytes()
            steady = load(system, "1.0", options.series, options.rounds, start_ms + INTERVAL_MS, cores[1])
            figures = {
                "cpu_seconds_per_million_samples": (system.cpu_seconds() - cpu) / steady["samples_sent"] * 1e6,
                "samples_per_second": steady["samples_per_second"],
                "request_p50_seconds": steady["latency_p50_seconds"],
                "request_p99_seconds": steady["latency_p99_seconds"],
                # What lies in the page cache yet counts as soon as it is given to the kernel for writing (proc(5)).
                "written_bytes_per_sample": (system.written_bytes() - written) / steady["samples_sent"],
                "rss_bytes": system.resident_bytes(),
            }
            if keeps:
                figures["journal_bytes_per_sample"] = (system.metric(PAYLOAD) - payload) / steady["samples_sent"]
                figures["requests_per_sync"] = (system.metric("tidemark_storage_journal_records_total") /
                                                max(1, system.metric("tidemark_storage_journal_syncs_total")))
            return figures
        finally:
            system.stop()


def restart(options, cores):
    """Figures of the state of many containers that is brought back."""
    figures = {}
    with folder() as place:
        system = Always(place, cores[0])
        try:
            system.wait_until_ready()
            rounds = options.restart_rounds
            start_ms = int(time.time() * 1000) - 2 * rounds * INTERVAL_MS
            size = f"--containers={options.containers}"
            first = load(system, "1.0", size, rounds, start_ms, cores[1])

            def come_back(how):
                begin = time.monotonic()
                system.start()
                system.wait_until_ready(seconds=600, pause=0.01)
                figures[how + "_ready_seconds"] = time.monotonic() - begin
                figures[how + "_ready_cpu_seconds"] = system.cpu_seconds()
                figures[how + "_replayed_records"] = system.metric("tidemark_storage_recovered_records_total")

            system.kill()
            come_back("killed")
            begin = time.monotonic()
            system.stop(seconds=600)
            figures["stop_seconds"] = time.monotonic() - begin
            come_back("ended")
            figures["series"] = first["series"]
            figures["samples_before"] = first["samples_sent"]
            figures["state_bytes"] = max((file.stat().st_size for file in pathlib.Path(place, "data").glob("*.sst")), default=0)
            figures["rss_bytes"] = system.resident_bytes()
            return figures
        finally:
            system.stop(seconds=600)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="2,000 series, 2,000 containers, Tidemark only")
    parser.add_argument("--series", type=int, help="about so many series are written (default 100000)")
    parser.add_argument("--rounds", type=int, help="steady rounds after the cold one (default 20)")
    parser.add_argument("--runs", type=int, default=1, help="of each system; the one of least CPU is told (default 1)")
    parser.add_argument("--containers", type=int, help="whose state is brought back (default 100000)")
    parser.add_argument("--restart-rounds", type=int, default=8, help="samples of each series before it (default 8)")
    options = parser.parse_args()
    if options.targets:
        print("tidemark\ntidetool")
        return 0
    options.series = options.series or (2000 if options.quick else 100_000)
    options.rounds = options.rounds or (3 if options.quick else 20)
    options.containers = options.containers or (2000 if options.quick else 100_000)
    kinds = [Always, Interval, Nothing] + ([] if options.quick else [VictoriaMetrics, Prometheus])
    cores = two_cores()
    where = machine()
    results = []
    rows = []
    for kind in kinds:
        if not kind.is_here():
            print(f"{kind.name} is not installed and left out", file=sys.stderr)
            continue
        figures = min((write(kind, options, cores) for _ in range(options.runs)),
                      key=lambda run: run["cpu_seconds_per_million_samples"])
        label = getattr(kind, "label", "")
        results += [{"system": kind.name, **({"storage": label} if label else {}), "metric": metric,
                     "value": round(value, 6)} for metric, value in figures.items()]
        rows.append([f"{kind.name}, {label}" if label else kind.name,
                     f"{figures['cpu_seconds_per_million_samples']:.2f}",
                     f"{figures['samples_per_second']:,.0f}",
                     f"{figures['request_p50_seconds'] * 1e3:.1f}",
                     f"{figures['request_p99_seconds'] * 1e3:.1f}",
                     f"{figures['written_bytes_per_sample']:.1f}",
                     f"{figures['rss_bytes'] / 2**20:.0f}"])
    print(f"{options.series} series (about), 1 cold and {options.rounds} steady rounds, 2,000 samples a request, "
          f"4 connections, each system on one core; best of {options.runs}")
    table(["system, storage", "CPU-s per M samples", "samples/s", "p50 ms", "p99 ms", "written B/sample", "RSS MiB"], rows)

    figures = restart(options, cores)
    results += [{"system": "tidemark", "storage": "always", "metric": f"restart_{metric}", "value": round(value, 6)}
                for metric, value in figures.items()]
    print(f"\nrestart with {options.containers} containers, {figures['series']:,.0f} series, "
          f"{figures['samples_before']:,.0f} samples before it; checkpoint of {figures['state_bytes'] / 2**20:.0f} MiB")
    table(["after", "ready after s", "CPU-s", "records replayed"],
          [["SIGTERM", f"{figures['ended_ready_seconds']:.2f}", f"{figures['ended_ready_cpu_seconds']:.2f}",
            f"{figures['ended_replayed_records']:.0f}"],
           ["SIGKILL", f"{figures['killed_ready_seconds']:.2f}", f"{figures['killed_ready_cpu_seconds']:.2f}",
            f"{figures['killed_replayed_records']:.0f}"]])
    print(f"the stop itself, with its checkpoint: {figures['stop_seconds']:.2f} s")
    last_line("durability", where, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
