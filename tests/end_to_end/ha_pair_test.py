#!/usr/bin/env python3
"""Two real Prometheus servers as an HA pair before one Tidemark; the leader is killed and comes back.

Both scrape the same simulated cluster a moment apart. The one that lives through it all also feeds a second Tidemark,
which so shows what one server alone would have given. What both recommend must be the same, but for what a scrape sees
at one moment and not at another: see BUCKETS.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool ha_pair_test.py
"""

import json
import math
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from programs import free_port, get, wait_for

TIDEMARK = os.environ.get("TIDEMARK_BIN", "build/release/bin/tidemark")
TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")

SCRAPE_SECONDS = 2
FAILOVER_SECONDS = 12
CLUSTER = "demo"
# Requests are upper edges of histogram buckets, each 5 % wider than the one below (Kubernetes VPA recommender,
# pkg/recommender/model/aggregations_config.go). The servers scrape at other moments, so that a level's peak, or the
# part of a minute that a counter's increase is given to, may fall into the next bucket.
BUCKETS = 1
FIRST_BUCKET = {"cpu": 0.01, "memory": 1e7}
# What peaks while nobody leads is not seen: the simulated cluster kills a container now and then, which may fall there.
MOST_UNSEEN = 2
# The runs of batch workloads last less than the time for which only one of the two Tidemarks is fed: such a workload
# may be known to that one alone until its next run.
BRIEF_TYPES = {"cronjob", "job"}
# Where the servers differ at all it is by chance, so that most of some hundred containers agree exactly.
LEAST_EQUAL_RATIO = 0.8


def bucket_edge(resource, value):
    """The number of the bucket edge at `value`, which is shown rounded; edges lie at first · (1.05^n − 1) / 0.05."""
    return round(math.log1p(0.05 * value / FIRST_BUCKET[resource]) / math.log(1.05))


class Page:
    """The metrics of a Tidemark at one moment."""

    def __init__(self, address):
        self.values = {}
        for line in get(address + "/metrics").splitlines():
            found = re.fullmatch(r"([A-Za-z_]\w*)(?:\{(.*)\})? (\S+)", line)
            if found:
                labels = frozenset(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found.group(2) or ""))
                self.values[(found.group(1), labels)] = float(found.group(3))

    def family(self, name):
        """[({label: value}, value)]"""
        return [(dict(labels), value) for (found, labels), value in self.values.items() if found == name]

    def total(self, name, **labels):
        return sum(value for found, value in self.family(name) if labels.items() <= found.items())

    def accepted(self):
        return self.total("tidemark_remote_write_samples_accepted_total")

    def ignored(self, reason):
        return self.total("tidemark_remote_write_samples_ignored_total", reason=reason)

    def leader(self):
        rows = self.family("tidemark_remote_write_ha_leader_info")
        return rows[0][0]["replica"] if rows else None

    def samples_of(self, replica, decision):
        return self.total("tidemark_remote_write_ha_samples_total", replica=replica, decision=decision)

    def requests(self):
        """{identity: model request}"""
        return {tuple(sorted(labels.items())): value for labels, value in self.family("tidemark_model_request")}


class HaPair(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.children = []
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.stop_all)
        cls.cluster = f"127.0.0.1:{free_port()}"
        cls.start("cluster", [TIDETOOL, "demo-cluster", "--web.listen-address=" + cls.cluster, "--speed=1"])
        wait_for("the simulated cluster", lambda: cls.answers("http://" + cls.cluster + "/"), 30)
        cls.pair = cls.start_tidemark("pair")
        cls.alone = cls.start_tidemark("alone")

    @classmethod
    def path(cls, name):
        return pathlib.Path(cls.folder.name, name)

    @classmethod
    def start(cls, name, command):
        with open(cls.path(name + ".log"), "a") as log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cls.children.append(child)
        return child

    @classmethod
    def answers(cls, url):
        try:
            get(url)
            return True
        except OSError:
            return False

    @classmethod
    def start_tidemark(cls, name):
        config = cls.path(name + ".yml")
        config.write_text(f"remote_write: {{ha: {{failover_timeout: {FAILOVER_SECONDS}s}}}}\nestimation: {{preset: vpa}}\n")
        cls.start(name, [TIDEMARK, f"--config.file={config}", "--web.listen-address=127.0.0.1:0",
                         "--eval.interval=1s", f"--storage.path={cls.path(name)}"])
        found = wait_for(name + " listens", lambda: re.search(
            r"msg=listening address=(\S+)", cls.path(name + ".log").read_text()), 30)
        return "http://" + found.group(1)

    @classmethod
    def start_prometheus(cls, replica, receivers):
        config = cls.path(replica + ".yml")
        config.write_text(json.dumps({  # YAML is a superset
            "global": {"scrape_interval": f"{SCRAPE_SECONDS}s", "scrape_timeout": f"{SCRAPE_SECONDS}s",
                       "external_labels": {"cluster": CLUSTER, "__replica__": replica}},
            "scrape_configs": [
                {"job_name": job, "honor_labels": True, "metrics_path": "/metrics/" + job,
                 "static_configs": [{"targets": [cls.cluster]}]} for job in ("cadvisor", "kube-state-metrics")],
            "remote_write": [{"url": receiver + "/api/v1/write", "name": f"to{i}",
                              "queue_config": {"batch_send_deadline": "1s"}}
                             for i, receiver in enumerate(receivers)]}))
        return cls.start("prometheus-" + replica, [
            "prometheus", f"--config.file={config}", "--log.level=warn", f"--storage.tsdb.path={cls.path(replica)}",
            "--storage.remote.flush-deadline=1s", f"--web.listen-address=127.0.0.1:{free_port()}"])

    @classmethod
    def stop_all(cls):
        for child in reversed(cls.children):
            if child.poll() is None:
                child.terminate()
        for child in cls.children:
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def wait_minutes(self, count):
        """Until that many further minutes have ended, and the first samples of the next have come."""
        end = (time.time() // 60 + count) * 60 + 3 * SCRAPE_SECONDS
        wait_for("the clock", lambda: time.time() >= end, 60 * count + 30)

    def test_the_pair_gives_what_one_server_gives(self):
        first = self.start_prometheus("a", [self.pair])
        wait_for("a leads", lambda: Page(self.pair).leader() == "a", 30)
        self.start_prometheus("b", [self.pair, self.alone])
        wait_for("b is heard of and shed", lambda: Page(self.pair).samples_of("b", "shed") > 0, 30)
        wait_for("b feeds the reference", lambda: Page(self.alone).accepted() > 0, 30)
        before = Page(self.pair), Page(self.alone)
        began = time.monotonic()

        # In the middle of a minute, so that one has samples of both.
        wait_for("the middle of a minute", lambda: 25 <= time.time() % 60 <= 40, 70)
        self.assertEqual(Page(self.pair).leader(), "a")
        first.send_signal(signal.SIGKILL)
        first.wait()
        killed = time.monotonic()
        wait_for("b takes over", lambda: Page(self.pair).leader() == "b", FAILOVER_SECONDS + 15)
        took_over = time.monotonic() - killed
        taken_of_first = Page(self.pair).samples_of("a", "taken")

        first = self.start_prometheus("a", [self.pair])
        shed_of_first = Page(self.pair).samples_of("a", "shed")
        wait_for("a is back and shed", lambda: Page(self.pair).samples_of("a", "shed") > shed_of_first, 30)
        self.wait_minutes(2)
        pair, alone = Page(self.pair), Page(self.alone)
        seconds = time.monotonic() - began

        # Who leads, who is shed, and that the log tells.
        self.assertEqual(pair.leader(), "b")
        self.assertEqual(pair.family("tidemark_remote_write_ha_failovers_total"), [({"ha_cluster": CLUSTER}, 1)])
        self.assertEqual(pair.samples_of("a", "taken"), taken_of_first)
        self.assertIn('msg="HA pair failed over"', self.path("pair.log").read_text())
        for labels, heard in pair.family("tidemark_remote_write_ha_last_received_timestamp_seconds"):
            self.assertLess(time.time() - heard, 30, labels)
        self.assertEqual(pair.total("tidemark_remote_write_series_without_replica_label_total"), 0)

        # Nothing was refused, by either.
        for page in (pair, alone):
            self.assertEqual(page.total("tidemark_remote_write_samples_rejected_total"), 0)
            self.assertEqual({labels["code"] for labels, value in
                              page.family("tidemark_remote_write_requests_total") if value > 0}, {"204"})

        # No double samples: as many as from one server, less the silence.
        taken = pair.accepted() - before[0].accepted()
        expected = alone.accepted() - before[1].accepted()
        rate = expected / seconds
        print(f"accepted {taken:.0f} of the pair and {expected:.0f} of one server in {seconds:.0f} s; "
              f"failover after {took_over:.1f} s")
        self.assertLess(taken, expected + rate * 2 * SCRAPE_SECONDS)
        self.assertGreater(taken, expected - rate * (took_over + 4 * SCRAPE_SECONDS))
        self.assertEqual(pair.ignored("second_scrape"), alone.ignored("second_scrape"))
        self.assertGreater(pair.ignored("ha_copy"), 0.4 * expected)

        # No counter fell.
        for page in (pair, alone):
            self.assertEqual(page.total("tidemark_engine_usage_resets_total"), 0)

        def pages():  # a workload may be known to one a tick before the other
            one, other = Page(self.pair).requests(), Page(self.alone).requests()
            known_to_one = [dict(identity) for identity in one.keys() ^ other.keys()]
            if any(labels["workload_type"] not in BRIEF_TYPES for labels in known_to_one):
                return None
            return one, other
        self.compare(*wait_for("the same workloads in both", pages, 30))

    def compare(self, pair, alone):
        distances = {}
        for identity in pair.keys() & alone.keys():
            resource = dict(identity)["resource"]
            distances[identity] = abs(bucket_edge(resource, pair[identity]) - bucket_edge(resource, alone[identity]))
        self.assertGreater(len(distances), 60)
        equal = sum(distance == 0 for distance in distances.values())
        worst = max(distances, key=distances.get)
        print(f"{len(distances)} requests, {equal} equal, the worst {distances[worst]} buckets apart")
        beyond = {identity: (pair[identity], alone[identity])
                  for identity, distance in distances.items() if distance > BUCKETS}
        self.assertLessEqual(len(beyond), MOST_UNSEEN, beyond)
        self.assertGreaterEqual(equal, LEAST_EQUAL_RATIO * len(distances))


if __name__ == "__main__":
    unittest.main(verbosity=2)
