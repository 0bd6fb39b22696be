"""A Prometheus with a history: blocks made by promtool, served by a real server, and VictoriaMetrics likewise."""

import base64
import json
import os
import pathlib
import subprocess
import time
import urllib.parse
import urllib.request

from programs import free_port, wait_for

STEP = 15  # seconds between samples, as scraped


class Series:
    """A series as a function of time: `value(t)` while first <= t <= last, in seconds."""

    def __init__(self, name, labels, value, first, last):
        self.name = name
        self.labels = labels
        self.value = value
        self.first = first
        self.last = last

    def lines(self):
        labels = ",".join(f'{key}="{text}"' for key, text in self.labels.items())
        for when in range(self.first, self.last + 1, STEP):
            yield f"{self.name}{{{labels}}} {self.value(when)} {when}\n"


def container(namespace, workload, pod, first, last, cores, size, **more):
    """The series of one pod of a Deployment with one container that uses `cores` and `size` bytes."""
    replica_set = f"{workload}-5c9f7b6d4"
    labels = {**more, "namespace": namespace, "pod": f"{replica_set}-{pod}"}
    inside = {**labels, "container": "app"}
    return [
        Series("container_cpu_usage_seconds_total", {**inside, "cpu": "total", "id": f"/{namespace}/{pod}"},
               lambda when: 1000 + cores * (when - first), first, last),
        Series("container_cpu_usage_seconds_total", {**labels, "cpu": "total", "id": f"/{namespace}/{pod}/sandbox"},
               lambda when: 2 * (when - first), first, last),
        Series("container_memory_working_set_bytes", {**inside, "id": f"/{namespace}/{pod}"},
               lambda when: size, first, last),
        Series("kube_pod_owner", {**labels, "owner_kind": "ReplicaSet", "owner_name": replica_set,
                                  "owner_is_controller": "true"}, lambda when: 1, first, last),
        Series("kube_replicaset_owner", {**more, "namespace": namespace, "replicaset": replica_set,
                                         "owner_kind": "Deployment", "owner_name": workload},
               lambda when: 1, first, last),
    ]


def restarts(namespace, workload, pod, first, last, request_cores, request_bytes, killed_at=()):
    """What kube-state-metrics tells of the container's requests and restarts; it was killed for memory at these times."""
    inside = {"namespace": namespace, "pod": f"{workload}-5c9f7b6d4-{pod}", "uid": f"uid-{pod}", "container": "app"}

    def before(when):
        return [at for at in killed_at if at <= when]

    def one(name, value, begin=first, **more):
        return Series("kube_pod_container_" + name, {**inside, **more}, value, begin, last)

    out = [one("resource_requests", lambda when: request_cores, resource="cpu", unit="core"),
           one("resource_requests", lambda when: request_bytes, resource="memory", unit="byte"),
           one("status_restarts_total", lambda when: len(before(when)))]
    if killed_at:
        seen = -(-(min(killed_at) - first) // STEP) * STEP + first  # the first scrape after it
        out += [one("status_last_terminated_reason", lambda when: 1, seen, reason="OOMKilled"),
                one("status_last_terminated_timestamp", lambda when: before(when)[-1], seen)]
    return out


def write_openmetrics(path, all_series):
    by_name = {}
    for one in all_series:
        by_name.setdefault(one.name, {})[tuple(sorted(one.labels.items()))] = one
    with open(path, "w") as out:
        for name, some in sorted(by_name.items()):
            counter = name.endswith("_total")
            out.write(f"# TYPE {name.removesuffix('_total') if counter else name} "
                      f"{'counter' if counter else 'gauge'}\n")
            for one in some.values():
                out.writelines(one.lines())
        out.write("# EOF\n")


class History:
    """A Prometheus over the given series, killed when the block ends."""

    def __init__(self, folder, all_series, flags=(), web_config=None, scheme="http", config="{}"):
        self.folder = pathlib.Path(folder)
        self.flags = list(flags)
        self.scheme = scheme
        data = self.folder / "tsdb"
        if not data.exists():
            text = self.folder / "history.om"
            write_openmetrics(text, all_series)
            subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", str(text), str(data)],
                           check=True, capture_output=True)
            text.unlink()
        self.config = self.folder / "prometheus.yml"
        self.config.write_text(config)
        if web_config is not None:
            path = self.folder / "web.yml"
            path.write_text(json.dumps(web_config))  # YAML is a superset
            self.flags.append(f"--web.config.file={path}")
        self.port = free_port()
        self.url = f"{scheme}://127.0.0.1:{self.port}"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.log = open(self.folder / "prometheus.log", "a")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.config}", f"--storage.tsdb.path={self.folder}/tsdb",
             "--storage.tsdb.retention.time=400d", f"--web.listen-address=127.0.0.1:{self.port}",
             "--log.level=warn", *self.flags], stdout=self.log, stderr=self.log)
        wait_for("Prometheus listens", self._listens)

    def _listens(self):
        if self.process.poll() is not None:
            raise AssertionError((self.folder / "prometheus.log").read_text())
        import socket
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port)) != 0:
                return False
        if self.scheme == "https":
            return True
        try:
            with urllib.request.urlopen(self.url + "/-/ready", timeout=5) as answer:
                return answer.status == 200
        except urllib.error.HTTPError as error:
            return error.code == 401
        except OSError:
            return False

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()


class Victoria:
    """A VictoriaMetrics with the same series."""

    def __init__(self, folder, all_series):
        self.folder = pathlib.Path(folder)
        self.series = all_series
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.log = open(self.folder / "victoria.log", "w")
        self.process = subprocess.Popen(
            ["victoria-metrics", f"-storageDataPath={self.folder}/victoria", f"-httpListenAddr=127.0.0.1:{self.port}",
             "-retentionPeriod=2y", "-loggerLevel=ERROR", "-search.latencyOffset=0s"],
            stdout=self.log, stderr=self.log)
        wait_for("VictoriaMetrics listens", self._listens)
        lines = []
        for one in self.series:
            times = range(one.first, one.last + 1, STEP)
            lines.append(json.dumps({"metric": {"__name__": one.name, **one.labels},
                                     "values": [one.value(when) for when in times],
                                     "timestamps": [when * 1000 for when in times]}))
        request = urllib.request.Request(self.url + "/api/v1/import", "\n".join(lines).encode(), method="POST")
        urllib.request.urlopen(request, timeout=60).close()
        urllib.request.urlopen(self.url + "/internal/force_flush", timeout=60).close()
        return self

    def _listens(self):
        try:
            with urllib.request.urlopen(self.url + "/health", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
