"""Receivers of remote write that benchmarks start, each alone on one core, and the load that they get."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from _report import BIN

TICK = os.sysconf("SC_CLK_TCK")
INTERVAL_MS = 15_000


def two_cores():
    """One for the receiver and one for the load; (None, None) on a machine that has one."""
    cpus = sorted(os.sched_getaffinity(0))
    return (cpus[0], cpus[1]) if len(cpus) > 1 else (None, None)


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
        self.core = core
        self.start()

    def start(self):
        """Also again, after its end, on what it has kept."""
        environment = dict(os.environ, GOMAXPROCS="1")
        core = self.core
        with open(os.path.join(self.folder, "log"), "w") as log:
            self.process = subprocess.Popen(
                self.command(), env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if core is not None else None)

    def command(self):
        raise NotImplementedError

    @classmethod
    def is_here(cls):
        raise NotImplementedError

    def wait_until_ready(self, seconds=60, pause=0.1):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if self.answers():
                return
            time.sleep(pause)
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

    def written_bytes(self):
        """What it has had written to the disk, by proc(5), io."""
        io = pathlib.Path(f"/proc/{self.process.pid}/io").read_text()
        return int(re.search(r"^write_bytes: (\d+)", io, re.MULTILINE).group(1))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=20):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Tidemark(System):
    name = "tidemark"
    protocols = ("1.0", "2.0")
    ready = "/-/ready"
    flags = ()

    def command(self):
        return [BIN / "tidemark", f"--web.listen-address=127.0.0.1:{self.port}", f"--storage.path={self.folder}/data",
                *self.flags]

    def metric(self, name):
        """The value of a metric without labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            found = re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)
        if not found:
            raise SystemExit(f"{self.name} has no metric {name}")
        return float(found.group(1))

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
    """One run of the generator; its report. `series`: how many, or the flag that says how large the cluster is."""
    size = series if isinstance(series, str) else f"--series={series}"
    output = subprocess.run(
        [BIN / "tidetool", "loadgen", f"--url=http://127.0.0.1:{system.port}{system.path}", f"--protocol={protocol}",
         size, f"--rounds={rounds}", f"--start={start_ms}", f"--interval={INTERVAL_MS}ms",
         "--connections=4", "--samples-per-request=2000", "--output=json"],
        text=True, stdout=subprocess.PIPE,
        preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if core is not None else None)
    report = json.loads(output.stdout)
    if output.returncode != 0:
        raise SystemExit(f"{system.name} did not take everything: {report}")
    return report
