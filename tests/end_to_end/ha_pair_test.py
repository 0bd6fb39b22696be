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
# On a busy machine scrapes come late, and some not at all, so that a few requests are further apart, by a few buckets.
MOST_BEYOND_RATIO = 0.05
FAR_BUCKETS = 4  # 1.05^4: a fifth and a little. Half or double of everything would be 14
# What peaks while nobody leads is not seen: the simulated cluster kills a container now and then, which may fall there.
MOST_UNSEEN = 2
# A pod may come or go while nobody leads, and what is not seen for half a minute is no minute of CPU.
MOST_WINDOWS_APART_RATIO = 0.02
# The runs of batch workloads last less than the time for which only one of the two Tidemarks is fed: such a workload
# may be known to that one alone until its next run.
BRIEF_TYPES = {"cronjob", "job"}
# Where the servers differ at all it is by chance, so that most of some hundred containers agree exactly.
LEAST_EQUAL_RATIO = 0.8
# A minute of CPU counts if half of it was seen. One Tidemark is fed some seconds before the other. If that one had such
# a first minute and the other not, it would know three minutes where the other knows two, and that in which the cluster
# began is no ordinary one. So both begin in the second half of one minute.
BEGIN_SECOND = 33
LAST_BEGIN_SECOND = 42
MOST_BEGINNINGS = 4


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

    def windows(self):
        return self.total("tidemark_engine_usage_windows_total")

    def heard_until(self):
        """The time of the newest sample of CPU usage."""
        return self.total("tidemark_engine_source_last_sample_timestamp_seconds",
                          metric="container_cpu_usage_seconds_total")

    def ticks(self):
        return self.total("tidemark_engine_ticks_total")

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
        cls.beginnings = 0
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.stop_all)
        cls.cluster = f"127.0.0.1:{free_port()}"
        cls.start("cluster", [TIDETOOL, "demo-cluster", "--web.listen-address=" + cls.cluster, "--speed=1"])
        wait_for("the simulated cluster", lambda: cls.answers("http://" + cls.cluster + "/"))

    @classmethod
    def path(cls, name):
        return pathlib.Path(cls.folder.name, f"{cls.beginnings}-{name}")

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
            r"msg=listening address=(\S+)", cls.path(name + ".log").read_text()))
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
                              # One queue: when a sample has come, so have all that were scraped before it.
                              "queue_config": {"batch_send_deadline": "1s", "min_shards": 1, "max_shards": 1}}
                             for i, receiver in enumerate(receivers)]}))
        return cls.start("prometheus-" + replica, [
            "prometheus", f"--config.file={config}", "--log.level=warn", f"--storage.tsdb.path={cls.path(replica)}",
            "--storage.remote.flush-deadline=1s", f"--web.listen-address=127.0.0.1:{free_port()}"])

    @classmethod
    def stop_all(cls):
        cls.stop(cls.children)

    @staticmethod
    def stop(children):
        for child in reversed(children):
            if child.poll() is None:
                child.terminate()
        for child in children:
            try:
                child.wait(60)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    @classmethod
    def begin(cls):
        """Starts both Tidemarks and both servers: a, which leads, and b. Gives a once b feeds the reference; None, and
        all are stopped, when that was in another minute than the start of a."""
        cls.beginnings += 1
        already = len(cls.children)
        cls.pair = cls.start_tidemark("pair")
        cls.alone = cls.start_tidemark("alone")
        wait_for("the second half of a minute", lambda: BEGIN_SECOND <= time.time() % 60 <= LAST_BEGIN_SECOND)
        minute = time.time() // 60
        first = cls.start_prometheus("a", [cls.pair])
        wait_for("a leads", lambda: Page(cls.pair).leader() == "a")
        cls.start_prometheus("b", [cls.pair, cls.alone])
        wait_for("b feeds the reference", lambda: Page(cls.alone).accepted() > 0)
        if time.time() // 60 == minute:
            return first
        cls.stop(cls.children[already:])
        return None

    def pages_of_the_same_minutes(self, minutes):
        """Of both Tidemarks, when that many further minutes have ended, and both know these and nothing of the next."""
        wait_minutes = minutes
        for _ in range(5):
            end = (time.time() // 60 + wait_minutes) * 60
            wait_for("the clock", lambda: time.time() >= end, 60 * wait_minutes + 60)
            for address in (self.pair, self.alone):
                # The scrape that closes the minute of each container, of each of the two jobs.
                wait_for("the end of the minute", lambda: Page(address).heard_until() >= end + 2 * SCRAPE_SECONDS)
            ticks = [Page(address).ticks() for address in (self.pair, self.alone)]
            for address, seen in zip((self.pair, self.alone), ticks):
                wait_for("two ticks", lambda: Page(address).ticks() > seen + 1)
            pages = Page(self.pair), Page(self.alone)
            if all(page.heard_until() < end + 60 for page in pages):
                return pages
            wait_minutes = 1
        raise AssertionError("in none of five minutes both could be asked within it")

    def test_the_pair_gives_what_one_server_gives(self):
        first = None
        while first is None:
            self.assertLess(self.beginnings, MOST_BEGINNINGS, "two servers cannot be started within half a minute")
            first = self.begin()
        wait_for("b is heard of and shed", lambda: Page(self.pair).samples_of("b", "shed") > 0)
        before = Page(self.pair), Page(self.alone)
        began = time.monotonic()

        # In the middle of a minute, so that one has samples of both.
        wait_for("the middle of a minute", lambda: 25 <= time.time() % 60 <= 40)
        self.assertEqual(Page(self.pair).leader(), "a")
        first.send_signal(signal.SIGKILL)
        first.wait()
        killed = time.monotonic()
        wait_for("b takes over", lambda: Page(self.pair).leader() == "b", FAILOVER_SECONDS + 60)
        took_over = time.monotonic() - killed
        taken_of_first = Page(self.pair).samples_of("a", "taken")

        first = self.start_prometheus("a", [self.pair])
        shed_of_first = Page(self.pair).samples_of("a", "shed")
        wait_for("a is back and shed", lambda: Page(self.pair).samples_of("a", "shed") > shed_of_first)
        pair, alone = self.pages_of_the_same_minutes(2)
        seconds = time.monotonic() - began

        # Who leads, who is shed, and that the log tells.
        self.assertEqual(pair.leader(), "b")
        self.assertEqual(pair.family("tidemark_remote_write_ha_failovers_total"), [({"ha_cluster": CLUSTER}, 1)])
        self.assertEqual(pair.samples_of("a", "taken"), taken_of_first)
        self.assertIn('msg="HA pair failed over"', self.path("pair.log").read_text())
        for labels, heard in pair.family("tidemark_remote_write_ha_last_received_timestamp_seconds"):
            self.assertLess(time.time() - heard, 60, labels)
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

        # The same minutes, each once.
        print(f"{pair.windows():.0f} minutes of usage of the pair and {alone.windows():.0f} of one server")
        self.assertGreater(alone.windows(), 100)
        self.assertLessEqual(abs(pair.windows() - alone.windows()), MOST_WINDOWS_APART_RATIO * alone.windows())

        known_to_one = [dict(identity) for identity in pair.requests().keys() ^ alone.requests().keys()]
        self.assertEqual([labels for labels in known_to_one if labels["workload_type"] not in BRIEF_TYPES], [])
        self.compare(pair.requests(), alone.requests())

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
        self.assertLessEqual(len(beyond), max(MOST_UNSEEN, MOST_BEYOND_RATIO * len(distances)), beyond)
        far = {identity: both for identity, both in beyond.items() if distances[identity] > FAR_BUCKETS}
        self.assertLessEqual(len(far), MOST_UNSEEN, far)
        self.assertGreaterEqual(equal, LEAST_EQUAL_RATIO * len(distances))


if __name__ == "__main__":
    unittest.main(verbosity=2)
