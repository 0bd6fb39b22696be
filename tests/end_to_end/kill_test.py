#!/usr/bin/env python3
"""A known stream while the daemon is killed: nothing that was acknowledged is lost, nothing counts twice.

Several connections send (known_stream.py) and send again what was not acknowledged, as Prometheus does. The daemon is
killed with SIGKILL at random moments and at aimed ones: in the middle of a checkpoint, right after one, while it
recovers. In the end its state must be that of a daemon that lived through the same stream undisturbed: the same
lines on /metrics, the same number of samples in every histogram, weights to 1e-9.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool kill_test.py

TIDEMARK_KILLS: how many kills, 12 when not set. TIDEMARK_KILL_SEED: for stream and moments, random when not set.
"""

import errno
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time
import unittest
import urllib.parse

import kept_state
from arrival_order import ArrivalOrder, held_back
from killing import AIM_SECONDS, SEED, Clock, Killer, different_lines, final_state, log
from known_stream import CONNECTIONS, KnownStream, Senders
from programs import Daemon, free_port, get, total, wait_for

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")

KILLS = int(os.environ.get("TIDEMARK_KILLS") or 12)
# A fixed event time makes a seed a repeatable stream; the daemon's clock is set so that it ends now.
START_MS = 1_790_000_040_000
ROUNDS_PER_KILL = 180
LAST_ROUNDS = 20
# When a model has been trained depends on the machine; what is forecast without training does not.
CONFIG = "storage: {checkpoint_interval: 1s}\nforecast: {training_budget_ratio: 0}\n"
STREAM_SECONDS = 600
SMALL_DISK_MIB = 224
PROMETHEUS_SECONDS = 80  # for six kills; at least one whole minute of usage


class Tmpfs:
    """A small disk with a file on it that fills it or leaves room."""

    def __init__(self, mib):
        self.mib = mib

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="tidemark-small-disk-")
        run = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.mib}m", "tidemark-test", self.path],
                             text=True, capture_output=True)
        if run.returncode != 0:
            os.rmdir(self.path)
            raise unittest.SkipTest("no small disk can be mounted here: " + run.stderr.strip())
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", self.path], check=True)
        os.rmdir(self.path)

    def fill(self):
        """Until nothing more fits, however much others write beside it."""
        with open(os.path.join(self.path, "ballast"), "ab", buffering=0) as ballast:
            for size in (1 << 20, 1 << 12):
                try:
                    while ballast.write(b"\xff" * size) == size:
                        pass
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def make_room(self):
        os.remove(os.path.join(self.path, "ballast"))


class KnownStreamTest(unittest.TestCase):
    """What comes of a known stream; KillTest and DiskTest compare with it."""

    @classmethod
    def setUpClass(cls):
        log(f"TIDEMARK_KILL_SEED={SEED}")
        cls.stream = KnownStream(SEED, KILLS * ROUNDS_PER_KILL, START_MS)
        cls.clock = Clock(cls.stream)
        with Daemon(CONFIG, flags=cls.clock.flags) as daemon:
            began = time.monotonic()
            with Senders(daemon, cls.stream) as senders:
                senders.wait(STREAM_SECONDS)
            log(f"undisturbed: {cls.stream.rounds} rounds in {time.monotonic() - began:.1f} s")
            assert senders.broken == 0 and senders.refused == 0
            cls.lines, cls.state = final_state(daemon)
        # A comparison of nothing with nothing would always come out well.
        assert len(cls.lines) > 100, len(cls.lines)
        assert kept_state.samples(cls.state) > 50 * cls.stream.rounds, kept_state.samples(cls.state)

    def assert_undisturbed(self, daemon):
        lines, state = final_state(daemon)
        differing = different_lines(lines, self.lines)
        self.assertEqual(differing[:10], [], f"{len(differing)} lines differ")
        self.assertEqual(kept_state.differences(state, self.state), [])


class KillTest(KnownStreamTest):
    def kill_through(self, aims, flags=()):
        """The whole stream, with a kill in each of as many parts of it as there are aims."""
        draw = random.Random(f"{SEED}/{self.id()}")
        part = self.stream.rounds // len(aims)
        done = 0

        def pace(number):
            # The stream waits for its kills: the later in a part, the longer; a round is under way most of the time. In the
            # last rounds of a part together as long as a moment may be aimed at.
            if part * (done + 1) - number <= LAST_ROUNDS:
                end = time.monotonic() + (AIM_SECONDS + 30) / LAST_ROUNDS
                while time.monotonic() < end and part * (done + 1) - number <= LAST_ROUNDS:
                    time.sleep(0.05)
                return 0
            return 0.02 if number - (done + 1) * part > -part // 2 else 0

        with Daemon(CONFIG, flags=lambda: self.clock.flags() + list(flags)) as daemon:
            killer = Killer(daemon, draw)
            with Senders(daemon, self.stream, pace) as senders:
                for number, aim in enumerate(aims):
                    begin = number * part + draw.randrange(part // 2)
                    wait_for(f"round {begin}", lambda: senders.round >= begin or senders.failure, STREAM_SECONDS)
                    senders.check()
                    killer.strike(aim)
                    self.assertFalse(senders.is_done(), "the stream had ended before the last kill")
                    done = number + 1
                senders.wait(STREAM_SECONDS)
            log(f"{self.id()}: {killer.kills} kills ({killer.hits}), {senders.broken} requests without an answer, "
                f"{senders.refused} refused, {killer.recovered:.0f} records replayed")
            self.assertGreater(killer.recovered, 0)
            self.assertGreater(senders.broken, 0, "no kill met a request")
            for aim in set(aims):
                self.assertGreater(killer.hits[aim], 0, f"no {aim} came by within {AIM_SECONDS} s")
            self.assert_undisturbed(daemon)

    @staticmethod
    def aims(kills):
        kinds = ("random", "checkpoint", "trim", "recovery")
        return [kinds[number % len(kinds)] for number in range(kills)]

    def test_killed_at_any_moment(self):
        self.kill_through(self.aims(KILLS - KILLS // 3), ["--storage.sync=always"])

    def test_killed_while_the_disk_is_asked_only_now_and_then(self):
        self.kill_through(self.aims(max(4, KILLS // 3)), ["--storage.sync=interval"])


class DiskTest(KnownStreamTest):
    def stays_refused(self, senders, daemon):
        """The disk is full: everything is refused, nothing else happens."""
        refused = senders.refused
        wait_for("a refusal", lambda: senders.refused > refused + 3 * CONNECTIONS or senders.failure)
        senders.check()
        at = senders.round
        refused = senders.refused
        wait_for("more refusals", lambda: senders.refused > refused + 20 * CONNECTIONS)
        self.assertEqual(senders.round, at, "acknowledged on a full disk")
        self.assertTrue(daemon.is_alive(), daemon.last_log())
        self.assertEqual(daemon.get("/-/healthy")[0], 200)
        self.assertGreater(total(daemon.metrics(), "tidemark_storage_journal_append_failures_total"), 0)

    def goes_on(self, senders):
        at = senders.round
        wait_for("progress after there was room again", lambda: senders.round > at + 10 or senders.failure)
        senders.check()

    def test_a_disk_that_fills_refuses_and_goes_on_when_there_is_room(self):
        third = self.stream.rounds // 3
        with Tmpfs(SMALL_DISK_MIB) as disk, \
                Daemon(CONFIG, flags=self.clock.flags, storage=os.path.join(disk.path, "state")) as daemon:
            with Senders(daemon, self.stream, lambda number: 0.002) as senders:
                wait_for("a third", lambda: senders.round > third or senders.failure, STREAM_SECONDS)
                disk.fill()
                self.stays_refused(senders, daemon)
                disk.make_room()
                self.goes_on(senders)  # without a restart

                wait_for("two thirds", lambda: senders.round > 2 * third or senders.failure, STREAM_SECONDS)
                disk.fill()
                self.stays_refused(senders, daemon)
                daemon.kill()
                # It may not come up without any room, but then it says why, and nothing is lost.
                daemon.launch()
                try:
                    daemon.wait_until_ready()
                    self.stays_refused(senders, daemon)
                    log("started on a full disk")
                except RuntimeError:
                    self.assertNotEqual(daemon.process.wait(120), 0)
                    self.assertRegex(daemon.last_log(), "(?i)space|room|full")
                    log("did not start on a full disk: " + daemon.log[-1])
                disk.make_room()
                if not daemon.is_alive():
                    daemon.start()
                self.goes_on(senders)
                senders.wait(STREAM_SECONDS)
            self.assert_undisturbed(daemon)


class PrometheusTest(unittest.TestCase):
    """A real Prometheus feeds two daemons; one of them is killed again and again."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, name, command):
        with open(os.path.join(self.folder.name, name + ".log"), "w") as out:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.addCleanup(self.end, child)
        return child

    @staticmethod
    def end(child):
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(60)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    @staticmethod
    def answers(url):
        try:
            get(url)
            return True
        except OSError:
            return False

    def start_prometheus(self, cluster, receivers):
        address = f"127.0.0.1:{free_port()}"
        config = os.path.join(self.folder.name, "prometheus.yml")
        pathlib.Path(config).write_text(json.dumps({  # YAML is a superset
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "cluster", "honor_labels": True, "static_configs": [{"targets": [cluster]}]}],
            "remote_write": [
                {"url": f"http://127.0.0.1:{port}/api/v1/write", "name": name,
                 "queue_config": {"batch_send_deadline": "500ms", "min_shards": 4, "max_shards": 4,
                                  "max_backoff": "200ms"}}
                for name, port in receivers.items()]}))
        self.start("prometheus", [
            "prometheus", "--config.file=" + config, "--log.level=warn", "--web.listen-address=" + address,
            "--storage.tsdb.path=" + os.path.join(self.folder.name, "tsdb")])
        wait_for("prometheus", lambda: self.answers(f"http://{address}/-/ready"))
        return address

    @staticmethod
    def queries(address, expression):
        return json.loads(get(f"http://{address}/api/v1/query?" + urllib.parse.urlencode({"query": expression})))["data"]["result"]

    @staticmethod
    def queue_metric(address, name):
        """{receiver: value}"""
        return {found.group(1): float(found.group(2)) for found in re.finditer(
            rf'^prometheus_remote_storage_{name}{{.*remote_name="(\w+)".*}} (\S+)$',
            get(f"http://{address}/metrics"), re.MULTILINE)}

    def test_no_sample_of_a_prometheus_is_missing_after_kills(self):
        draw = random.Random(f"{SEED}/prometheus")
        cluster_address = f"127.0.0.1:{free_port()}"
        cluster = self.start("cluster", [TIDETOOL, "demo-cluster", "--web.listen-address=" + cluster_address,
                                         "--speed=10"])
        wait_for("the simulated cluster", lambda: self.answers(f"http://{cluster_address}/"))
        # Prometheus cannot follow a receiver to another port.
        with Daemon(CONFIG, listen=free_port()) as killed, Daemon(CONFIG, listen=free_port()) as lives:
            prometheus = self.start_prometheus(cluster_address, {"killed": killed.port, "lives": lives.port})
            killer = Killer(killed, draw, down_seconds=1.5)
            aims = KillTest.aims(max(6, min(20, KILLS // 2)))
            end = time.monotonic() + PROMETHEUS_SECONDS * len(aims) / 6
            for number, aim in enumerate(aims):
                left = end - time.monotonic()
                time.sleep(max(0, draw.uniform(0.5, 1) * left / (len(aims) - number) - 1))
                killer.strike(aim)
            time.sleep(max(0, end - time.monotonic()))
            self.end(cluster)
            # The target goes down once, which ends its series. That and what was scraped before must arrive: the log is read in
            # order, so that all of it is in a queue when anything later was sent.
            wait_for("the end of the cluster is noticed", lambda: self.queries(prometheus, 'up{job="cluster"} == 0'))
            down = time.time()

            def drained():
                newest = self.queue_metric(prometheus, "queue_highest_sent_timestamp_seconds")
                pending = self.queue_metric(prometheus, "samples_pending")
                return min(newest.values()) > down + 1 and set(pending.values()) == {0}

            wait_for("all is sent", drained, 240)
            retried = self.queue_metric(prometheus, "samples_retried_total")
            for name in ("samples_failed_total", "samples_dropped_total"):
                self.assertEqual(set(self.queue_metric(prometheus, name).values()), {0}, name)
            log(f"{self.id()}: {killer.kills} kills ({killer.hits}), {retried['killed']:.0f} samples sent again")
            self.assertGreater(retried["killed"], 0)
            throttled = held_back(prometheus)
            log(f"held back by their limits: {sorted(throttled)}")
            ours, kept = final_state(killed)
            theirs, whole = final_state(lives)
        self.assertGreater(len(theirs), 100)
        self.assertGreater(kept_state.samples(whole), 100)
        order = ArrivalOrder(throttled, whole)
        differing = order.different_lines(ours, theirs)
        self.assertEqual(differing[:10], [], f"{len(differing)} lines differ")
        self.assertEqual(kept_state.differences(*order.without_buckets(kept, whole)), [])


def load_tests(loader, tests, _):
    """Without the class that only holds what others share."""
    return unittest.TestSuite(loader.loadTestsFromTestCase(kind) for kind in (KillTest, DiskTest, PrometheusTest))


if __name__ == "__main__":
    unittest.main(verbosity=2)
