#!/usr/bin/env python3
"""Remote write into Tidemark, Prometheus, VictoriaMetrics and the floor, each alone on one core.

The same bodies for all (tidetool loadgen, a core of its own): one round in which every series is new (cold), then rounds
in which every series is known (steady). CPU is what the system's process has used by /proc, user and kernel together:
wall-clock figures depend on what else the machine does.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from _report import BIN, last_line, machine, table

TICK = os.sysconf("SC_CLK_TCK")
INTERVAL_MS = 15_000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class System:
    """A receiver that is started for a run and ended after it."""

    name = ""
    protocols = ("1.0",)
    path = "/api/v1/write"
    ready = "/"

    def __init__(self, folder, core):
        self.port = free_port()
        self.folder = folder
        environment = dict(os.environ, GOMAXPROCS="1")
        with open(os.path.join(folder, "log"), "w") as log:
            self.process = subprocess.Popen(
                self.command(), env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if core is not None else None)

    def command(self):
        raise NotImplementedError

    @classmethod
    def is_here(cls):
        raise NotImplementedError

    def wait_until_ready(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if self.answers():
                return
            time.sleep(0.1)
        raise SystemExit(f"{self.name} does not start:\n" + pathlib.Path(self.folder, "log").read_text()[-2000:])

    def answers(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}{self.ready}", timeout=5).close()
            return True
        except OSError:
            return False

    def takes(self, protocol):
        """Whether it says so itself: an unsupported message is 415."""
        if protocol == "1.0":
            return True
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{self.path}", data=b"\x00", method="POST",
            headers={"Content-Encoding": "snappy",
                     "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request"})
        try:
            urllib.request.urlopen(request, timeout=10).close()
            return True
        except urllib.error.HTTPError as refusal:
            return refusal.code != 415

    def cpu_seconds(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(stat[11]) + int(stat[12])) / TICK

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Tidemark(System):
    name = "tidemark"
    protocols = ("1.0", "2.0")
    ready = "/-/ready"

    def command(self):
        return [BIN / "tidemark", f"--web.listen-address=127.0.0.1:{self.port}", f"--storage.path={self.folder}/data"]

    @classmethod
    def is_here(cls):
        return (BIN / "tidemark").exists()


class Prometheus(System):
    name = "prometheus"
    ready = "/-/ready"

    def command(self):
        config = os.path.join(self.folder, "prometheus.yml")
        pathlib.Path(config).write_text("global: {scrape_interval: 1m}\n")
        return ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-remote-write-receiver",
                "--log.level=error"]

    @classmethod
    def is_here(cls):
        return shutil.which("prometheus") is not None


class VictoriaMetrics(System):
    name = "victoriametrics"
    ready = "/health"

    def command(self):
        return ["victoria-metrics", f"-storageDataPath={self.folder}/data", f"-httpListenAddr=127.0.0.1:{self.port}",
                "-retentionPeriod=1", "-loggerLevel=ERROR"]

    @classmethod
    def is_here(cls):
        return shutil.which("victoria-metrics") is not None


class Floor(System):
    name = "floor"

    def command(self):
        return [BIN / "ingest_floor", str(self.port)]

    def answers(self):
        return "listening" in pathlib.Path(self.folder, "log").read_text()

    @classmethod
    def is_here(cls):
        return (BIN / "ingest_floor").exists()


def load(system, protocol, series, rounds, start_ms, core):
    """One run of the generator; its report."""
    output = subprocess.run(
        [BIN / "tidetool", "loadgen", f"--url=http://127.0.0.1:{system.port}{system.path}", f"--protocol={protocol}",
         f"--series={series}", f"--rounds={rounds}", f"--start={start_ms}", f"--interval={INTERVAL_MS}ms",
         "--connections=4", "--samples-per-request=2000", "--output=json"],
        text=True, stdout=subprocess.PIPE,
        preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if core is not None else None)
    report = json.loads(output.stdout)
    if output.returncode != 0:
        raise SystemExit(f"{system.name} did not take everything: {report}")
    return report


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
    cpus = sorted(os.sched_getaffinity(0))
    cores = (cpus[0], cpus[1]) if len(cpus) > 1 else (None, None)

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
