"""A load of remote write from many senders at a pace that does not depend on the answers.

One sender is one connection with series of its own, as a shard of Prometheus' queue: it sends a body, waits for the
answer, and sends the same body again until it is acknowledged. It is worse than Prometheus in that it does not wait
for Retry-After.
"""

import collections
import multiprocessing
import select
import socket
import time

from programs import WRITE_HEADERS, WRITE_PATH, pack, series, unpack, varint

PODS = 400
CONTAINERS = ("app", "proxy", "logs", "metrics")
SAMPLES = PODS * (len(CONTAINERS) + 1)  # of one body, as Prometheus sends by default
ANSWER_SECONDS = 30  # after which Prometheus gives a request up


class Sender:
    """The bodies of one sender: body n holds all its series at `start_ms` + n * `step_ms`."""

    def __init__(self, number, start_ms, step_ms=500):
        self.namespace = f"load-{number:03d}"
        self.start_ms = start_ms
        self.step_ms = step_ms
        self.acknowledged = -1  # number of the last body answered 204
        self.block = pack(self._message(start_ms))
        # Times are patched into the packed bytes. That it works is a matter of how snappy packs: so look.
        for step in (1, 54321):
            later = start_ms + step * step_ms
            if unpack(self.body(step)) != self._message(later):
                raise RuntimeError("times cannot be patched into the packed body")

    def _message(self, time_ms):
        out = bytearray()
        for pod_number in range(PODS):
            pod = f"web-{pod_number}"
            for number, container in enumerate(CONTAINERS):
                out += series(
                    {"__name__": "container_memory_working_set_bytes", "namespace": self.namespace, "pod": pod,
                     "container": container, "instance": f"10.0.{pod_number % 64}.7:10250",
                     "job": "kubelet", "metrics_path": "/metrics/cadvisor", "node": f"node-{pod_number % 64}",
                     "image": f"registry.example.org/team/{container}:v1.27.{pod_number % 10}",
                     "name": f"{pod_number * 2654435761 % 2**64:016x}" * 4,
                     "id": f"/kubepods.slice/kubepods-burstable.slice/{pod_number * 40503 % 2**32:08x}/{container}"},
                    1e8 * (number + 1) + pod_number, time_ms)
            out += series(
                {"__name__": "kube_pod_owner", "namespace": self.namespace, "pod": pod, "owner_kind": "StatefulSet",
                 "owner_name": "web", "owner_is_controller": "true", "job": "kube-state-metrics"}, 1, time_ms)
        return bytes(out)

    def body(self, number):
        return self.block.replace(varint(self.start_ms), varint(self.start_ms + number * self.step_ms))


class Tally:
    """What came of a load."""

    def __init__(self):
        self.sent = 0
        self.statuses = collections.Counter()
        self.without_retry_after = 0
        self.longest_retry_after = 0
        self.connections = 0
        self.broken = 0  # connections that ended without an answer
        self.acknowledged_seconds = []  # how long each 204 took
        self.slowest_refusal_seconds = 0.0
        self.texts = collections.Counter()

    def add(self, other):
        self.sent += other.sent
        self.statuses += other.statuses
        self.without_retry_after += other.without_retry_after
        self.longest_retry_after = max(self.longest_retry_after, other.longest_retry_after)
        self.connections += other.connections
        self.broken += other.broken
        self.acknowledged_seconds += other.acknowledged_seconds
        self.slowest_refusal_seconds = max(self.slowest_refusal_seconds, other.slowest_refusal_seconds)
        self.texts += other.texts


class _Connection:
    """A sender at work; all of it is non-blocking."""

    HEAD = "".join(f"{name}: {value}\r\n" for name, value in WRITE_HEADERS)

    def __init__(self, port, sender, poll, tally):
        self.port = port
        self.sender = sender
        self.poll = poll
        self.tally = tally
        self.socket = None
        self.attempt = 0
        self.answered = True
        self.answer = b""
        self.unsent = []
        self.number = None
        self.body = b""

    def connect(self):
        self.tally.connections += 1
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.socket.setblocking(False)
        self.poll.register(self.socket, select.EPOLLIN)

    def close(self):
        if self.socket is not None:
            self.poll.unregister(self.socket)
            self.socket.close()
            self.socket = None

    def send_next(self):
        number = self.sender.acknowledged + 1
        if number != self.number:  # else it is sent again
            self.number = number
            self.body = self.sender.body(number)
        body = self.body
        retry = f"Retry-Attempt: {self.attempt}\r\n" if self.attempt else ""
        head = (f"POST {WRITE_PATH} HTTP/1.1\r\nHost: tidemark\r\n{self.HEAD}{retry}"
                f"Content-Length: {len(body)}\r\n\r\n")
        self.unsent = [memoryview(head.encode()), memoryview(body)]
        self.answer = b""
        self.answered = False
        self.started = time.monotonic()
        self.tally.sent += 1
        self.poll.modify(self.socket, select.EPOLLIN | select.EPOLLOUT)
        self.on_writable()

    def on_writable(self):
        try:
            while self.unsent:
                sent = self.socket.sendmsg(self.unsent)
                while self.unsent and sent >= len(self.unsent[0]):
                    sent -= len(self.unsent.pop(0))
                if self.unsent:
                    self.unsent[0] = self.unsent[0][sent:]
        except BlockingIOError:
            return
        except OSError:  # the answer may be there all the same
            self.unsent = []
        self.poll.modify(self.socket, select.EPOLLIN)

    def on_readable(self):
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.answer += data
        head, end, text = self.answer.partition(b"\r\n\r\n")
        headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:]) if end else {}
        if not self.answered and end and len(text) >= int(headers.get(b"content-length", 0)):
            self._on_answer(int(head.split(b" ", 2)[1]), headers, text)
            if headers.get(b"connection") == b"close":
                self.close()
        elif not data:
            self.tally.broken += not self.answered
            self.close()

    def _on_answer(self, status, headers, text):
        self.answered = True
        took = time.monotonic() - self.started
        self.tally.statuses[status] += 1
        if status == 204:
            self.sender.acknowledged += 1
            self.attempt = 0
            self.tally.acknowledged_seconds.append(took)
            return
        self.attempt += 1
        self.tally.slowest_refusal_seconds = max(self.tally.slowest_refusal_seconds, took)
        wait = headers.get(b"retry-after")
        if wait is None:
            self.tally.without_retry_after += 1
        else:
            self.tally.longest_retry_after = max(self.tally.longest_retry_after, int(wait))
        self.tally.texts[text.decode(errors="replace").strip()[:100]] += 1

    def is_done(self):
        """An early answer leaves a body to be sent to its end: the next request comes behind it."""
        return self.socket is None or (self.answered and not self.unsent)


def _run(port, senders, seconds, rate, factor):
    poll = select.epoll()
    tally = Tally()
    connections = [_Connection(port, sender, poll, tally) for sender in senders]
    idle = collections.deque(connections)
    by_number = {}
    started = time.monotonic()
    end = started + seconds
    launched = 0
    busy = set()
    while True:
        now = time.monotonic()
        if now >= end and (not busy or now >= end + ANSWER_SECONDS):
            break
        if rate:
            due = int(max((now - started) * rate, factor * tally.statuses[204])) - launched
        else:
            due = len(idle)
        while idle and due > 0 and now < end:
            connection = idle.popleft()
            if connection.socket is None:
                connection.connect()
            by_number[connection.socket.fileno()] = connection
            connection.send_next()
            busy.add(connection)
            launched += 1
            due -= 1
        for number, events in poll.poll(0.002):
            connection = by_number[number]
            if connection.socket is None or connection.socket.fileno() != number:
                continue
            if events & select.EPOLLOUT:
                connection.on_writable()
            if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
                connection.on_readable()
            if connection in busy and connection.is_done():
                busy.discard(connection)
                idle.append(connection)
    tally.broken += len(busy)  # no answer within the time a sender would wait
    for connection in connections:
        connection.close()
    poll.close()
    return tally, [sender.acknowledged for sender in senders]


def _run_in_process(pipe, *arguments):
    pipe.send(_run(*arguments))
    pipe.close()


def drive(port, senders, seconds, rate=None, factor=0, processes=1, meanwhile=None):
    """Sends for `seconds`, `rate` requests a second in all (None: each sender as fast as it is answered), and more
    where that is less than `factor` times what is acknowledged.

    Returns the Tally; the senders' `acknowledged` is brought up to date. `meanwhile()` is called about once a second.
    """
    tally = Tally()
    workers = []
    for number in range(processes):
        share = senders[number::processes]
        ours, theirs = multiprocessing.Pipe(duplex=False)
        worker = multiprocessing.Process(
            target=_run_in_process, args=(theirs, port, share, seconds, rate / processes if rate else None, factor))
        worker.start()
        theirs.close()
        workers.append((worker, ours, share))
    for worker, pipe, share in workers:
        while not pipe.poll(1):
            if meanwhile:
                meanwhile()
        part, acknowledged = pipe.recv()
        worker.join()
        tally.add(part)
        for sender, number in zip(share, acknowledged):
            sender.acknowledged = number
    return tally
