#!/usr/bin/env python3
"""External metrics and admissions of one tidemark on one core, while it takes samples.

A made-up cluster (tidetool loadgen) is told for three hours of sample time, up to now. Then, from the other core, for
--seconds each: a thousand GETs of target replicas and a hundred pod reviews a second, at first alone, then beside
remote write as of a scrape each 15 s. Requests are sent by schedule and latency counts from when each was due. Last, without
ingest, as many GETs as there can be, and as many new connections (TCP, TLS with both certificates, one GET).
`cores` is what the daemon used, `waiting` how many of its threads stood ready for a core and had none: where that is
much, other programs were on it, and latencies are theirs. Every answer is checked. What is slow is not an error, what
is wrong is: then the exit code is 1.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

from _receivers import Tidemark, two_cores
from _report import BIN, last_line, machine, table

CONFIG = """
estimation: {effect: applied}
scaling: {workloads: [{selector: '{}', min_replicas: 1, max_replicas: 100}]}
rightsizing: {mode: apply}
"""
INTERVAL_SECONDS = 15
PAST_MINUTES = 180
TARGET = re.compile(r"^tidemark_target_replicas\{([^}]*)\}", re.MULTILINE)


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def authority(folder, name):
    """A certificate authority; (certificate, key)."""
    pair = f"{folder}/{name}.crt", f"{folder}/{name}.key"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-out", pair[0], "-keyout", pair[1])
    return pair


def issue(folder, issuer, name, extension):
    """A certificate of `issuer`; (certificate, key)."""
    base = f"{folder}/{name}"
    pathlib.Path(base + ".cnf").write_text(extension + "\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", base + ".key", "-out", base + ".csr")
    openssl("x509", "-req", "-in", base + ".csr", "-CA", issuer[0], "-CAkey", issuer[1], "-CAcreateserial", "-days", "2",
            "-extfile", base + ".cnf", "-out", base + ".crt")
    return base + ".crt", base + ".key"


class Daemon(Tidemark):
    """Tidemark with a Kubernetes port."""

    def __init__(self, folder, core, tick_seconds):
        self.tick_seconds = tick_seconds
        self.serving_ca = authority(folder, "serving-ca")
        proxy_ca = authority(folder, "front-proxy-ca")
        serving = issue(folder, self.serving_ca, "tidemark", "subjectAltName=DNS:tidemark.tidemark.svc,IP:127.0.0.1")
        self.front_proxy = issue(folder, proxy_ca, "front-proxy-client", "extendedKeyUsage=clientAuth")
        config = pathlib.Path(folder, "tidemark.yaml")
        config.write_text(CONFIG)
        self.flags = (f"--config.file={config}", "--kubernetes.listen-address=127.0.0.1:0",
                      f"--eval.interval={tick_seconds}s",
                      f"--kubernetes.tls-cert-file={serving[0]}", f"--kubernetes.tls-private-key-file={serving[1]}",
                      f"--kubernetes.requestheader-client-ca-file={proxy_ca[0]}",
                      "--kubernetes.requestheader-allowed-names=front-proxy-client")
        super().__init__(folder, core)

    def kubernetes_port(self):
        log = pathlib.Path(self.folder, "log").read_text()
        found = re.search(r'msg="serving the Kubernetes API" .*\baddress="?127\.0\.0\.1:(\d+)', log)
        if not found:
            raise SystemExit("tidemark does not say where the Kubernetes port is:\n" + log[-2000:])
        return int(found.group(1))

    def waiting_seconds(self):
        """How long its threads could have run and had no core, in sum: its own stood in their way, or other programs."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[1]) for task in tasks) / 1e9

    def scaled_deployments(self):
        """(namespace, name) of every Deployment that has a target."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            page = answer.read().decode()
        found = [dict(re.findall(r'(\w+)="([^"]*)"', labels)) for labels in TARGET.findall(page)]
        return sorted((labels["namespace"], labels["workload"]) for labels in found
                      if labels["workload_type"] == "deployment")

    def wait_for_targets(self, seconds):
        """Until there are some, and as many as at the tick before."""
        deadline = time.monotonic() + seconds
        before = []
        while time.monotonic() < deadline:
            now = self.scaled_deployments()
            if now and len(now) == len(before):
                return now
            before = now
            time.sleep(self.tick_seconds + 1)
        raise SystemExit(f"tidemark gives {len(before)} targets after {seconds} s")


def pinned(core):
    return (lambda: os.sched_setaffinity(0, {core})) if core is not None else None


def loadgen(daemon, core, *arguments):
    return subprocess.Popen(
        [BIN / "tidetool", "loadgen", f"--url=http://127.0.0.1:{daemon.port}{daemon.path}", "--output=json", *arguments],
        text=True, stdout=subprocess.PIPE, preexec_fn=pinned(core))


def report_of(process):
    output, _ = process.communicate()
    report = json.loads(output)
    report["all_acknowledged"] = process.returncode == 0
    return report


def ask(daemon, core, workloads, seconds, *arguments):
    """(report of kubernetes_bench by kind of request, cores that the daemon used meanwhile, threads that waited for one)."""
    cpu, waiting = daemon.cpu_seconds(), daemon.waiting_seconds()
    run = subprocess.run(
        [BIN / "kubernetes_bench", f"--port={daemon.kubernetes_port()}", f"--ca={daemon.serving_ca[0]}",
         f"--certificate={daemon.front_proxy[0]}", f"--key={daemon.front_proxy[1]}", f"--workloads={workloads}",
         f"--seconds={seconds}", *arguments], text=True, stdout=subprocess.PIPE, preexec_fn=pinned(core))
    used = (daemon.cpu_seconds() - cpu) / seconds
    waited = (daemon.waiting_seconds() - waiting) / seconds
    if run.returncode not in (0, 1):
        raise SystemExit("kubernetes_bench does not run")
    return json.loads(run.stdout), used, waited


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", action="store_true", help="print what has to be built")
    parser.add_argument("--quick", action="store_true", help="200 containers, 2 s each, a tenth of the requests")
    parser.add_argument("--containers", type=int, help="of the cluster (default 10000)")
    parser.add_argument("--seconds", type=int, help="of each part by schedule (default 60); those flat out take at most 10")
    parser.add_argument("--gets", type=int, help="a second, by schedule (default 1000)")
    parser.add_argument("--admissions", type=int, help="a second, by schedule (default 100)")
    parser.add_argument("--connections", type=int, default=16,
                        help="of the GETs; the reviews have half as many (default 16)")
    options = parser.parse_args()
    if options.targets:
        print("tidemark\ntidetool\nkubernetes_bench")
        return 0
    if options.seconds and not 1 <= options.seconds <= 120:
        parser.error("--seconds: allowed are 1 to 120, since without samples targets are held for five minutes")
    options.containers = options.containers or (200 if options.quick else 10_000)
    options.seconds = options.seconds or (2 if options.quick else 60)
    options.gets = options.gets or (100 if options.quick else 1000)
    options.admissions = options.admissions or (10 if options.quick else 100)
    flat_out_seconds = min(options.seconds, 10)
    cores = two_cores()

    where = machine()
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as folder:
        daemon = Daemon(folder, cores[0], 1 if options.quick else 15)
        try:
            daemon.wait_until_ready()
            size = f"--containers={options.containers}"
            start_ms = int(time.time() * 1000) - PAST_MINUTES * 60_000
            # One connection: several drift apart in sample time.
            past = report_of(loadgen(daemon, cores[1], size, "--connections=1", "--interval=1m", f"--start={start_ms}",
                                     f"--rounds={PAST_MINUTES}"))
            if not past["all_acknowledged"]:
                raise SystemExit(f"tidemark did not take everything: {past}")
            deployments = daemon.wait_for_targets(120)
            workloads = pathlib.Path(folder, "workloads")
            workloads.write_text("".join(f"{namespace} {name}\n" for namespace, name in deployments))
            schedule = (f"--gets={options.gets}", f"--admissions={options.admissions}",
                        f"--connections={options.connections}")
            parts = {}
            parts["without_ingest"] = ask(daemon, cores[1], workloads, options.seconds, *schedule)
            # It has to send longer than the asker asks, which takes a moment to connect. Without --start it would end as
            # soon as the sample times that it encodes ahead reach the wall clock.
            rate = past["series"] / INTERVAL_SECONDS
            samples = loadgen(daemon, cores[1], size, f"--interval={INTERVAL_SECONDS}s", f"--rate={rate}",
                              f"--duration={options.seconds + 2}s",
                              f"--start={int(time.time() * 1000) - INTERVAL_SECONDS * 1000}",
                              f"--samples-per-request={100 if options.quick else 2000}")
            parts["with_ingest"] = ask(daemon, cores[1], workloads, options.seconds, *schedule)
            tick_seconds = daemon.metric("tidemark_engine_last_tick_duration_seconds")
            ingest = report_of(samples)
            if ingest["seconds"] < options.seconds:
                raise SystemExit(f"samples came for {ingest['seconds']:.1f} s of {options.seconds} only: {ingest}")
            parts["flat_out"] = ask(daemon, cores[1], workloads, flat_out_seconds, "--gets=max", "--connections=8")
            parts["new_connections"] = ask(daemon, cores[1], workloads, flat_out_seconds, "--new-connections=max",
                                           "--connections=4")
            resident = daemon.resident_bytes()
        finally:
            daemon.stop()

    rows, results, wrong = [], [], 0
    for part, (kinds, used, waited) in parts.items():
        results.append({"system": "tidemark", "part": part, "metric": "cpu_cores", "value": round(used, 4)})
        results.append({"system": "tidemark", "part": part, "metric": "waiting_threads", "value": round(waited, 4)})
        for kind, figures in kinds.items():
            wrong += figures["wrong_answers"]
            if figures["wrong_answers"]:
                print(f"{part}, {kind}: {figures['wrong_answers']} wrong answers, the first: {figures['first_wrong']}",
                      file=sys.stderr)
            for metric in ("requests", "per_second", "wrong_answers", "reopened_connections", "p50_seconds", "p90_seconds",
                           "p99_seconds", "p999_seconds", "max_seconds", "p99_lowest_sixth_seconds",
                           "p99_highest_sixth_seconds"):
                results.append({"system": "tidemark", "part": part, "kind": kind.replace("-", "_"),
                                "metric": metric if "second" in metric else metric + "_total",
                                "value": figures[metric]})
            rows.append([f"{part.replace('_', ' ')}: {kind.replace('-', ' ')}", f"{figures['per_second']:,.0f}",
                         *(f"{figures[f'{p}_seconds'] * 1e3:.2f}" for p in ("p50", "p90", "p99", "p999", "max")),
                         " to ".join(f"{figures[f'p99_{end}_sixth_seconds'] * 1e3:.2f}" for end in ("lowest", "highest")),
                         figures["wrong_answers"], f"{used:.2f}", f"{waited:.2f}"])
    for metric in ("samples_sent", "samples_acknowledged", "late_starts"):
        results.append({"system": "tidemark", "part": "ingest", "metric": f"{metric}_total", "value": ingest[metric]})
    for metric in ("samples_per_second", "latency_p50_seconds", "latency_p99_seconds", "latency_max_seconds"):
        results.append({"system": "tidemark", "part": "ingest", "metric": metric, "value": ingest[metric]})
    for metric, value in (("deployments", len(deployments)), ("series", past["series"]), ("rss_bytes", resident),
                          ("last_tick_seconds", tick_seconds)):
        results.append({"system": "tidemark", "part": "state", "metric": metric, "value": value})

    print(f"{options.containers} containers in {past['series']} series, {len(deployments)} Deployments with targets; "
          f"tidemark on one core, {options.seconds} s by schedule, {flat_out_seconds} s flat out")
    table(["part: requests", "per s", "p50 ms", "p90", "p99", "p99.9", "max", "p99 of a sixth", "wrong", "cores",
           "waiting"], rows)
    print(f"ingest beside: {ingest['samples_acknowledged']} of {ingest['samples_sent']} samples acknowledged, "
          f"{ingest['samples_per_second']:,.0f}/s, p99 {ingest['latency_p99_seconds'] * 1e3:.1f} ms; "
          f"RSS {resident / 2**20:.0f} MiB; the last tick took {tick_seconds * 1e3:.1f} ms")
    last_line("kubernetes", where, results)
    return 1 if wrong or not ingest["all_acknowledged"] else 0


if __name__ == "__main__":
    sys.exit(main())
