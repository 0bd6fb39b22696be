"""A stream of remote write that is known to the last sample, and senders that do not give up.

The same seed gives the same bodies. Some connections share the stream: each has pods of its own, of workloads that they
have in common, so that every histogram is filled from all of them. A round is one scrape of all pods, a minute of event
time; no connection begins a round before all have ended the one before, as scrapes of one moment do.
"""

import http.client
import random
import struct
import threading
import time

from programs import WRITE_HEADERS, WRITE_PATH, field, pack, varint

STALE = struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000002))[0]
STALE_BYTES = struct.pack("<Q", 0x7FF0000000000002)
ROUND_MS = 60_000
MIB = 1 << 20

CONNECTIONS = 4
NAMESPACES = 6
WORKLOADS = 2  # of each namespace
PODS = 2  # of each workload on each connection
CONTAINERS = (("app", 0.25, 300), ("proxy", 0.03, 60))  # name, mean cores, mean MiB
ANSWER_SECONDS = 30  # after which Prometheus gives a request up


class _Series:
    """One series: its labels encoded once."""

    def __init__(self, name, **labels):
        labels["__name__"] = name
        encoded = b"".join(field(1, field(1, key.encode()) + field(2, labels[key].encode())) for key in sorted(labels))
        # Behind the labels comes one sample of 16 bytes: a double, and a time of six bytes.
        self.head = b"\x0a" + varint(len(encoded) + 18) + encoded + b"\x12\x10\x09"

    def sample(self, value, tail):
        return self.head + (STALE_BYTES if value is STALE else struct.pack("<d", value)) + tail


class _Container:
    def __init__(self, labels, name, cores, mib):
        labels = dict(labels, container=name)
        self.cores = cores
        self.mib = mib
        self.seconds = 100.0
        self.restarts = 0
        self.cpu = _Series("container_cpu_usage_seconds_total", cpu="total", **labels)
        self.memory = _Series("container_memory_working_set_bytes", **labels)
        self.cpu_request = _Series("kube_pod_container_resource_requests", resource="cpu", unit="core", **labels)
        self.memory_request = _Series("kube_pod_container_resource_requests", resource="memory", unit="byte", **labels)
        self.restarts_total = _Series("kube_pod_container_status_restarts_total", **labels)
        self.reason = _Series("kube_pod_container_status_last_terminated_reason", reason="OOMKilled", **labels)

    def round(self, draw, load, tail):
        killed = draw.random() < 0.002
        if killed:
            self.restarts += 1
            self.seconds = 0.0
        self.seconds += self.cores * load * draw.uniform(0.5, 1.5) * ROUND_MS / 1000
        memory = self.mib * MIB * draw.uniform(0.8, 1.3)
        out = [self.cpu.sample(self.seconds, tail), self.memory.sample(float(int(memory)), tail),
               self.cpu_request.sample(4 * self.cores, tail), self.memory_request.sample(2.0 * self.mib * MIB, tail),
               self.restarts_total.sample(float(self.restarts), tail)]
        if self.restarts:
            out.append(self.reason.sample(1.0, tail))
        return out

    def end(self, tail):
        series = [self.cpu, self.memory, self.cpu_request, self.memory_request, self.restarts_total]
        return [one.sample(STALE, tail) for one in series + [self.reason] * bool(self.restarts)]


class _Pod:
    def __init__(self, labels, name, replica_set):
        labels = dict(labels, pod=name)
        self.owner = _Series("kube_pod_owner", owner_kind="ReplicaSet", owner_name=replica_set,
                             owner_is_controller="true", **labels)
        self.containers = [_Container(labels, *container) for container in CONTAINERS]


class _Workload:
    """A Deployment as one connection sees it; now and then a new version takes the place of its pods."""

    def __init__(self, draw, connection, name_space, number):
        self.draw = draw
        self.connection = connection
        self.labels = {"namespace": name_space}
        self.name = f"web-{number}"
        self.version = 0
        self.next_version = 0
        self.phase = draw.random()
        self.replicas = _Series("kube_deployment_spec_replicas", deployment=self.name, **self.labels)
        self._roll_out(0)

    def _roll_out(self, number):
        # One version of a connection is a ReplicaSet of its own: nothing depends on which connection comes first.
        replica_set = f"{self.name}-{self.connection}bcd{self.version}"
        self.replica_set = _Series("kube_replicaset_owner", replicaset=replica_set, owner_kind="Deployment",
                                   owner_name=self.name, owner_is_controller="true", **self.labels)
        self.pods = [_Pod(self.labels, f"{replica_set}-{pod}xkz{self.version}", replica_set) for pod in range(PODS)]
        self.version += 1
        self.next_version = number + self.draw.randrange(150, 600)

    def round(self, number, load, tail):
        out = []
        if number == self.next_version:
            for pod in self.pods:
                out.append(pod.owner.sample(STALE, tail))
                for container in pod.containers:
                    out += container.end(tail)
            self._roll_out(number)
        # Owners come first, so that nothing waits for them.
        out.append(self.replica_set.sample(1.0, tail))
        if self.connection == 0:
            out.append(self.replicas.sample(float(CONNECTIONS * PODS), tail))
        for pod in self.pods:
            out.append(pod.owner.sample(1.0, tail))
        for pod in self.pods:
            for container in pod.containers:
                out += container.round(self.draw, load, tail)
        return out


class KnownStream:
    """`rounds` rounds from `start_ms` on."""

    def __init__(self, seed, rounds, start_ms):
        self.seed = seed
        self.rounds = rounds
        self.start_ms = start_ms
        self.end_ms = start_ms + rounds * ROUND_MS

    def bodies(self, connection):
        """The packed bodies of one connection, one of each round."""
        draw = random.Random(f"{self.seed}/{connection}")
        workloads = [_Workload(draw, connection, f"space-{name_space}", number)
                     for name_space in range(NAMESPACES) for number in range(WORKLOADS)]
        for number in range(self.rounds):
            tail = b"\x10" + varint(self.start_ms + number * ROUND_MS)
            assert len(tail) == 7
            load = 1 + 0.6 * abs((number / 1440) % 1 - 0.5)
            yield pack(b"".join(entry for workload in workloads for entry in workload.round(number, load, tail)))


class Senders:
    """All connections of a stream to a daemon, as threads; each sends a body again until it is acknowledged.

    `pace(round)`: seconds to wait before a round. A refusal that is not to be repeated (4xx) ends everything.
    """

    def __init__(self, daemon, stream, pace=lambda number: 0):
        self.daemon = daemon
        self.stream = stream
        self.pace = pace
        self.round = 0  # all before it are acknowledged
        self.broken = 0  # requests without an answer
        self.refused = 0  # answered 5xx
        self.failure = None
        self._number = -1
        self._barrier = threading.Barrier(CONNECTIONS, action=self._begin_round)
        self._threads = [threading.Thread(target=self._run, args=(number,), daemon=True)
                         for number in range(CONNECTIONS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._barrier.abort()
        for thread in self._threads:
            thread.join(ANSWER_SECONDS + 5)

    def is_done(self):
        return not any(thread.is_alive() for thread in self._threads)

    def wait(self, seconds):
        """Until everything is acknowledged."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0, deadline - time.monotonic()))
        self.check()
        if not self.is_done():
            raise AssertionError(f"after {seconds} s only {self.round} of {self.stream.rounds} rounds were acknowledged")

    def check(self):
        if self.failure:
            raise AssertionError(self.failure)

    def _begin_round(self):
        self._number += 1
        self.round = self._number
        wait = self.pace(self.round)
        if wait:
            time.sleep(wait)

    def _run(self, number):
        connection = None
        try:
            for body in self.stream.bodies(number):
                self._barrier.wait()
                connection = self._send(connection, body)
            self._barrier.wait()
        except threading.BrokenBarrierError:
            pass
        except Exception as error:  # what a thread dies of must not be lost
            self.failure = self.failure or f"connection {number}: {error!r}"
            self._barrier.abort()
        finally:
            if connection is not None:
                connection.close()

    def _send(self, connection, body):
        attempt = 0
        while True:
            if self._barrier.broken:
                raise threading.BrokenBarrierError
            try:
                if connection is None:
                    port = self.daemon.port
                    if port is None:  # it is down
                        time.sleep(0.005)
                        continue
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
                headers = dict(WRITE_HEADERS, **({"Retry-Attempt": str(attempt)} if attempt else {}))
                connection.request("POST", WRITE_PATH, body, headers)
                response = connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException):
                self.broken += 1
                connection.close()
                connection = None
            else:
                if response.status < 300:
                    return connection
                if response.status < 500:
                    raise AssertionError(f"answered {response.status}: {text[:200]!r}")
                self.refused += 1
            attempt += 1
            time.sleep(0.02)
