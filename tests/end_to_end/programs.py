"""What the end-to-end tests share: a tidemark of one's own, its metrics, and bodies of remote write 1.0."""

import ctypes
import ctypes.util
import http.client
import os
import pathlib
import queue
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import time

BINARY = os.environ.get("TIDEMARK_BIN", "build/release/bin/tidemark")
WRITE_PATH = "/api/v1/write"
WRITE_HEADERS = (
    ("Content-Type", "application/x-protobuf"),
    ("Content-Encoding", "snappy"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
    ("User-Agent", "end_to_end/1"),
)
START_SECONDS = 30
STOP_SECONDS = 60


class Daemon:
    """One tidemark on a port of its own, with `config` as its configuration; killed when the block ends.

    `cpus`: the CPUs that it may use; `nice`: how much it steps back behind others on them.
    """

    def __init__(self, config="", flags=(), cpus=None, nice=0):
        self.folder = tempfile.mkdtemp(prefix="tidemark-end-to-end-")
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
        """Starts it, again if it has been stopped or killed, on the same storage."""
        self._address = queue.Queue()
        self.process = subprocess.Popen(
            [BINARY, "--web.listen-address=127.0.0.1:0", "--eval.interval=1s", f"--config.file={self.config}",
             f"--storage.path={self.folder}/data", *self.flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            preexec_fn=self._step_back)
        self._reader = threading.Thread(target=self._read_log, args=(self.process.stderr,), daemon=True)
        self._reader.start()
        try:
            self.port = self._address.get(timeout=START_SECONDS)
        except queue.Empty:
            self.port = None
        if self.port is None:
            raise RuntimeError("tidemark did not say where it listens:\n" + self.last_log())
        deadline = time.monotonic() + START_SECONDS
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
        self.process.kill()
        self.process.wait()

    def _read_log(self, stream):
        with stream:
            for line in stream:
                self.log.append(line.rstrip())
                found = re.search(r'\bmsg="?listening"? .*\baddress="?127\.0\.0\.1:(\d+)', line)
                if found:
                    self._address.put(int(found.group(1)))
        self._address.put(None)

    def last_log(self):
        return "\n".join(self.log[-20:])

    def is_alive(self):
        return self.process.poll() is None

    def request(self, method, path, headers=(), body=None, timeout=30):
        """(status, headers, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path, timeout=30):
        return self.request("GET", path, timeout=timeout)

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

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE).group(1)) * 1024


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
