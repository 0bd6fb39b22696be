"""What the end-to-end tests share: a tidemark of one's own, its metrics, and bodies of remote write 1.0."""

import ctypes
import ctypes.util
import http.client
import os
import pathlib
import queue
import random
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.request

BINARY = os.environ.get("TIDEMARK_BIN", "build/release/bin/tidemark")
WRITE_PATH = "/api/v1/write"
WRITE_HEADERS = (
    ("Content-Type", "application/x-protobuf"),
    ("Content-Encoding", "snappy"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
    ("User-Agent", "end_to_end/1"),
)
# How long something is waited for that comes at once on an idle machine. A wait ends when it has come, so that patience costs
# nothing: it is for two cores on which other tests and fuzzers run.
PATIENCE_SECONDS = 120
START_SECONDS = PATIENCE_SECONDS
STOP_SECONDS = 60
ANSWER_SECONDS = 60  # of one request


class Daemon:
    """One tidemark on a port of its own, with `config` as its configuration (None: without); killed when the block ends.

    `cpus`: the CPUs that it may use; `nice`: how much it steps back behind others on them. `storage`: where it keeps its
    state, in its own folder when not given. `listen`: its port, any when 0. `flags` may be a function that gives those
    of each start. `headers` go with every GET. `interval`: between two ticks.
    """

    def __init__(self, config="", flags=(), cpus=None, nice=0, storage=None, listen=0, headers=(),
                 interval="1s"):
        self.listen = listen
        self.headers = headers
        self.interval = interval
        self.folder = tempfile.mkdtemp(prefix="tidemark-end-to-end-")
        self.storage = storage or os.path.join(self.folder, "data")
        self.port = None
        self.config = None
        if config is not None:
            self.config = os.path.join(self.folder, "tidemark.yml")
            pathlib.Path(self.config).write_text(config)
        self.flags = flags
        self.cpus = cpus
        self.nice = nice
        self.log = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        """Starts it, again if it has been stopped or killed, on the same storage; returns when it is ready."""
        self.launch()
        self.wait_until_ready()

    def launch(self):
        """As start, but does not wait for anything."""
        self.port = None
        self._address = queue.Queue()
        self.process = subprocess.Popen(
            [BINARY, f"--web.listen-address=127.0.0.1:{self.listen}", f"--eval.interval={self.interval}",
             *([f"--config.file={self.config}"] if self.config else []), f"--storage.path={self.storage}",
             *(self.flags() if callable(self.flags) else self.flags)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            preexec_fn=self._step_back)
        self._reader = threading.Thread(
            target=self._read_log, args=(self.process.stderr, self._address), daemon=True)
        self._reader.start()

    def wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        try:
            self.port = self._address.get(timeout=START_SECONDS)
        except queue.Empty:
            pass
        if self.port is None:
            raise RuntimeError("tidemark did not say where it listens:\n" + self.last_log())
        while self.get("/-/ready")[0] != 200:
            if time.monotonic() > deadline or not self.is_alive():
                raise RuntimeError("tidemark did not become ready:\n" + self.last_log())
            time.sleep(0.02)

    def _step_back(self):
        os.nice(self.nice)
        if self.cpus:
            os.sched_setaffinity(0, self.cpus)

    def stop(self):
        """The exit code of an orderly stop."""
        if not hasattr(self, "process"):
            return None
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
        self._reader.join()
        return self.process.returncode

    def kill(self):
        """SIGKILL."""
        self.port = None
        self.process.kill()
        self.process.wait()

    def _read_log(self, stream, address):
        with stream:
            for line in stream:
                self.log.append(line.rstrip())
                found = re.search(r'\bmsg="?listening"? .*\baddress="?127\.0\.0\.1:(\d+)', line)
                if found:
                    address.put(int(found.group(1)))
        address.put(None)

    def last_log(self):
        return "\n".join(self.log[-20:])

    def is_alive(self):
        return self.process.poll() is None

    def request(self, method, path, headers=(), body=None, timeout=ANSWER_SECONDS):
        """(status, headers, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path, timeout=ANSWER_SECONDS):
        return self.request("GET", path, self.headers, timeout=timeout)

    def write(self, body):
        return self.request("POST", WRITE_PATH, WRITE_HEADERS, body)

    def metrics(self):
        """{(name, labels): value}, labels as a frozenset of pairs."""
        status, _, text = self.get("/metrics")
        if status != 200:
            raise RuntimeError(f"/metrics answered {status}")
        values = {}
        for line in text.decode().splitlines():
            found = re.fullmatch(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)", line)
            if found:
                labels = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found.group(2) or "")
                values[(found.group(1), frozenset(labels))] = float(found.group(3))
        return values

    def wait_for_tick(self):
        """Until all is published that the daemon has taken in by now. A tick that is under way may have begun before: so
        the one after it."""
        def ticks():
            return total(self.metrics(), "tidemark_engine_ticks_total")

        seen = ticks()
        wait_for("the next tick", lambda: ticks() > seen + 1)

    def memory(self, key="VmRSS"):
        """VmRSS or VmHWM (proc(5), status), in bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{key}:\s+(\d+) kB", status, re.MULTILINE).group(1)) * 1024


def wait_for(what, condition, seconds=PATIENCE_SECONDS):
    """What `condition()` gives once that is true. `what` may be a function: it is asked what is missing when time is up."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what() if callable(what) else what}: not within {seconds} s")
        time.sleep(0.1)


def get(url):
    with urllib.request.urlopen(url, timeout=ANSWER_SECONDS) as answer:
        return answer.read().decode()


# Below the ports that connections get (ip(7), ip_local_port_range), of which there are thousands while tests run.
PORTS = range(20000, 32000)
_held_ports = []


def free_port():
    """For programs that cannot be told 0, and for those that come back on the port they had. No other test gets the same as
    long as this one runs: a socket named after it (unix(7), abstract) holds it until this process ends."""
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        hold = socket.socket(socket.AF_UNIX)
        try:
            hold.bind(f"\0tidemark-test-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:  # somebody holds it, or listens there
            hold.close()
            continue
        _held_ports.append(hold.detach())
        return port
    raise RuntimeError("no free port")


def total(metrics, name, **labels):
    """Sum of the samples of a metric that carry these labels."""
    wanted = set(labels.items())
    return sum(value for (metric, found), value in metrics.items() if metric == name and wanted <= found)


# Remote write 1.0 (prometheus.WriteRequest).


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def series(labels, value, time_ms):
    """A TimeSeries entry with one sample; `labels` is a dictionary of texts."""
    encoded = b"".join(
        field(1, field(1, name.encode()) + field(2, labels[name].encode())) for name in sorted(labels))
    return field(1, encoded + field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + varint(time_ms)))


_snappy = ctypes.CDLL(ctypes.util.find_library("snappy") or "libsnappy.so.1")


def pack(message):
    """One snappy block."""
    size = ctypes.c_size_t(_snappy.snappy_max_compressed_length(ctypes.c_size_t(len(message))))
    out = ctypes.create_string_buffer(size.value)
    if _snappy.snappy_compress(message, ctypes.c_size_t(len(message)), out, ctypes.byref(size)) != 0:
        raise RuntimeError("snappy cannot pack")
    return out.raw[: size.value]


def unpack(block):
    size = ctypes.c_size_t()
    if _snappy.snappy_uncompressed_length(block, ctypes.c_size_t(len(block)), ctypes.byref(size)) != 0:
        raise RuntimeError("not a snappy block")
    out = ctypes.create_string_buffer(max(1, size.value))
    if _snappy.snappy_uncompress(block, ctypes.c_size_t(len(block)), out, ctypes.byref(size)) != 0:
        raise RuntimeError("not a snappy block")
    return out.raw[: size.value]
