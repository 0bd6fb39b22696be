#!/usr/bin/env python3
"""A back-fill from a real Prometheus whose daemon is killed again and again: what is merged counts once.

The daemon is killed while an answer of Prometheus is under way, shortly after one, and right after a merge, while a live
stream goes on. In the end its state must be that of a daemon that lived through the same back-fill undisturbed.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool kill_backfill_test.py

TIDEMARK_KILLS: how many kills, 12 when not set; half of them fall here. TIDEMARK_KILL_SEED: for stream and moments.
"""

import http.server
import json
import math
import os
import random
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import kept_state
from history import History, Series, container
from killing import SEED, Clock, Killer, different_lines, final_state, log
from known_stream import KnownStream, Senders
from programs import Daemon, total, wait_for

KILLS = 6  # of one back-fill: then it is through
BACKFILLS = max(1, int(os.environ.get("TIDEMARK_KILLS") or 12) // 2 // KILLS)
CONFIG = "storage: {checkpoint_interval: 1s}\nforecast: {training_budget_ratio: 0}\n"  # as in kill_test.py
# A unit of work holds 50 namespaces at most: there are three merges.
NAMESPACES = 120
STREAM_START_MS = 1_790_000_040_000
ROUNDS = 400
FIRST_ROUNDS = 20  # sent before the back-fill begins, so that each container's first live sample is known
PAST_SECONDS = 3 * 3600
OVERLAP_SECONDS = 600  # that the history reaches into the live stream
PATIENCE_SECONDS = 300
QUERY_SECONDS = 0.05  # more than Prometheus needs, so that there are moments to meet


class Gate(http.server.ThreadingHTTPServer):
    """Stands before Prometheus: counts range queries, and can hold one back."""

    daemon_threads = True

    def __init__(self, url):
        super().__init__(("127.0.0.1", 0), _Passage)
        self.target = url
        self.lock = threading.Lock()
        self.queries = 0
        self.answered = 0
        self.held = threading.Event()  # the one to be held has come
        self.release = threading.Event()
        self.hold_at = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def hold(self, more):
        """Holds the `more`-th range query from now on."""
        with self.lock:
            self.held.clear()
            self.release.clear()
            self.hold_at = self.queries + more

    def let_go(self):
        with self.lock:
            self.hold_at = None
        self.release.set()


class _Passage(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.pass_on(None)

    def do_POST(self):
        self.pass_on(self.rfile.read(int(self.headers["Content-Length"])))

    def pass_on(self, body):
        gate = self.server
        is_range = "/query_range" in self.path
        if is_range:
            with gate.lock:
                gate.queries += 1
                mine = gate.queries == gate.hold_at
            time.sleep(QUERY_SECONDS)
            if mine:
                gate.held.set()
                gate.release.wait(PATIENCE_SECONDS)
        request = urllib.request.Request(gate.target + self.path, body, method=self.command)
        if body is not None:
            request.add_header("Content-Type", self.headers.get("Content-Type", "application/x-www-form-urlencoded"))
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            return  # the daemon was killed meanwhile
        if is_range:
            with gate.lock:
                gate.answered += 1

    def log_message(self, *_):
        pass


def past_series(stream):
    """The history: namespaces that nobody sends live, and older pods of the workloads of the live stream."""
    live = stream.start_ms // 1000
    first, last = live - PAST_SECONDS, live + OVERLAP_SECONDS
    # Without any owner of a Job the back-fill would say that something is missing.
    series = [Series("kube_job_owner", {"namespace": "past-000", "job_name": "report-1", "owner_kind": "CronJob",
                                        "owner_name": "report", "owner_is_controller": "true"},
                     lambda when: 1, first, last)]
    for number in range(NAMESPACES):
        pod = container(f"past-{number:03d}", "web", f"x2x{number:02d}", first, last, 0.1 + number / 100, 1e8)
        series += vary(pod, number, first)
    for number in range(4):
        series += vary(container(f"space-{number}", "web-0", "old4x", first, last, 0.3, 2e8), number, first)
    return series


def vary(pod, number, first):
    """Usage that goes up and down, so that many buckets are filled."""
    out = []
    for one in pod:
        if one.name == "container_cpu_usage_seconds_total":
            rate = 0.2 + number / 200
            # The integral of rate · (1 + sin(t / 700) / 2): it never falls.
            def value(when, rate=rate):
                passed = when - first
                return round(50 + rate * (passed + 350 * (1 - math.cos(passed / 700))), 6)
            out.append(Series(one.name, one.labels, value, one.first, one.last))
        elif one.name == "container_memory_working_set_bytes":
            out.append(Series(one.name, one.labels,
                              lambda when: float(int(1e8 * (1 + number / 50 + math.sin(when / 900) / 3))),
                              one.first, one.last))
        else:
            out.append(one)
    return out


class KillBackfillTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        log(f"TIDEMARK_KILL_SEED={SEED}")
        cls.draw = random.Random(f"{SEED}/backfill")
        cls.stream = KnownStream(SEED, ROUNDS, STREAM_START_MS)
        cls.clock = Clock(cls.stream)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        history = History(folder.name, past_series(cls.stream))
        history.start()
        cls.addClassCleanup(history.stop)
        cls.gate = Gate(history.url)
        cls.addClassCleanup(cls.gate.server_close)
        cls.addClassCleanup(cls.gate.shutdown)

    def ask(self, daemon):
        """Begins the back-fill."""
        live = self.stream.start_ms / 1000
        status, _, text = daemon.request(
            "POST", "/api/v1/backfill", [("Content-Type", "application/json")],
            json.dumps({"prometheus": self.gate.url, "start": live - PAST_SECONDS, "end": live + OVERLAP_SECONDS,
                        "step": 60}).encode())
        self.assertIn(status, (200, 202), text)

    @staticmethod
    def state(daemon):
        for (name, labels), value in daemon.metrics().items():
            if name == "tidemark_backfill_state" and value == 1:
                return dict(labels)["state"]
        return None

    def run_through(self, disturb):
        """(lines, kept state) of a daemon that takes in the stream and the history, `disturb`ed meanwhile."""
        with Daemon(CONFIG, flags=self.clock.flags) as daemon:
            ended = False

            def pace(number):
                # The stream lasts as long as the back-fill, however slow this machine is.
                return 0 if number < FIRST_ROUNDS or ended else 0.1 if number < ROUNDS - 20 else 1

            with Senders(daemon, self.stream, pace) as senders:
                wait_for("the first rounds", lambda: senders.round > FIRST_ROUNDS or senders.failure, PATIENCE_SECONDS)
                senders.check()
                self.ask(daemon)
                disturb(daemon)
                wait_for("the end of the back-fill", lambda: self.state(daemon) in ("finished", "failed"), PATIENCE_SECONDS)
                self.assertEqual(self.state(daemon), "finished", daemon.last_log())
                ended = True
                senders.wait(PATIENCE_SECONDS)
            self.assertEqual(total(daemon.metrics(), "tidemark_backfill_not_covered"), 0, daemon.last_log())
            return final_state(daemon)

    def test_what_is_merged_counts_once_however_often_the_daemon_dies(self):
        before = self.gate.queries
        theirs, whole = self.run_through(lambda daemon: None)
        queries = self.gate.queries - before
        log(f"undisturbed: {queries} range queries")
        self.assertGreater(queries, 6)
        pasts = {key[1] for key in whole if key[1].startswith("past-") and key[4]}
        self.assertEqual(len(pasts), NAMESPACES)
        self.assertGreater(kept_state.samples(whole), NAMESPACES * PAST_SECONDS // 60)
        old = [entry for key, entry in whole.items()
               if key[1] == "space-0" and key[3:] == ("web-0", "app", "cpu")]
        self.assertEqual(len(old), 1)
        self.assertLess(old[0]["first_sample_ms"], self.stream.start_ms, "the history met no live workload")

        for _ in range(BACKFILLS):
            ours, kept = self.run_through(self.kill)
            self.assertEqual(kept_state.differences(kept, whole), [])
            differing = different_lines(ours, theirs)
            self.assertEqual(differing[:10], [], f"{len(differing)} lines differ")

    def kill(self, daemon):
        killer = Killer(daemon, self.draw)
        met = {"held": 0, "answered": 0, "merged": 0}
        for number in range(KILLS):
            if self.state(daemon) == "finished":
                break
            aim = ("held", "merged", "answered")[number % 3]
            if self.wait_for_moment(daemon, aim):
                met[aim] += 1
            daemon.kill()
            killer.kills += 1
            self.gate.let_go()
            killer.come_back("back-fill")
            if self.state(daemon) == "idle":  # it died before it had written anything down
                self.ask(daemon)
        log(f"{killer.kills} kills {met}")
        self.assertGreaterEqual(killer.kills, KILLS // 2)
        for aim in ("held", "merged"):
            self.assertGreater(met[aim], 0, f"no kill at a moment of {aim}")

    def wait_for_moment(self, daemon, aim):
        deadline = time.monotonic() + 60
        if aim == "held":
            self.gate.hold(self.draw.randrange(1, 4))
            while time.monotonic() < deadline:
                if self.gate.held.wait(0.05):
                    return True
                if self.state(daemon) == "finished":
                    return False
            return False
        if aim == "answered":
            at = self.gate.answered + self.draw.randrange(1, 4)
            while self.gate.answered < at and time.monotonic() < deadline and self.state(daemon) != "finished":
                time.sleep(0.001)
            time.sleep(self.draw.uniform(0, 0.03))
            return self.gate.answered >= at
        merged = total(daemon.metrics(), "tidemark_backfill_merged_containers_total")
        while time.monotonic() < deadline:
            metrics = daemon.metrics()
            if total(metrics, "tidemark_backfill_merged_containers_total") > merged:
                return True
            if self.state(daemon) == "finished":
                return False
        return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
