#!/usr/bin/env python3
"""Recorded and faulty remote-write bodies against the real daemon.

    payloads_test.py [PATH_OF_TIDEMARK]     (or TIDEMARK_BIN=PATH)

TIDEMARK_PAYLOADS names another folder of the layout of tests/data/payloads. Exits 0 when all is well.
"""

import http.client
import json
import os
import pathlib
import re
import sys
import time
import unittest

import programs
from programs import WRITE_PATH, pack, series, total

HERE = pathlib.Path(__file__).resolve().parent
PAYLOADS = pathlib.Path(os.environ.get("TIDEMARK_PAYLOADS") or HERE.parent / "data" / "payloads")

REQUEST_SECONDS = 60
# A body that is worked on costs milliseconds; the rest is for a disk and two cores on which other tests run.
PROMPT_SECONDS = 10
MIB = 1 << 20
# What a request may cost at most where its note says nothing: the unpacked limit of 32 MiB, and as much for the rest.
DEFAULT_GROWTH = 64 * MIB
# What all faulty bodies together may add to the memory of a daemon that has done nothing yet.
WHOLE_SET_GROWTH = 64 * MIB
WRITTEN = {kind: f"X-Prometheus-Remote-Write-{kind.capitalize()}-Written" for kind in ("samples", "histograms", "exemplars")}

SUMMARY = []


class Daemon(programs.Daemon):
    """One tidemark whose clock begins at `clock_ms`."""

    def __init__(self, clock_ms):
        super().__init__(flags=(f"--clock.start={clock_ms}",))

    def send(self, entry, folder):
        """Sends one body of an index, with just the headers that stand there: some of them twice."""
        body = (folder / entry["file"]).read_bytes()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_SECONDS)
        try:
            connection.putrequest(entry.get("method", "POST"), WRITE_PATH, skip_accept_encoding=True)
            for name, value in entry["headers"]:
                if name.lower() not in ("host", "content-length"):
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            try:
                connection.endheaders(body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # a refusal may come, and the connection go, before the body is read
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def reset_peak(self):
        """Makes VmHWM start over at VmRSS (proc(5), clear_refs)."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")


def taken(metrics):
    """Samples that were good: used, or good but of no use to anyone."""
    ignored = "tidemark_remote_write_samples_ignored_total"
    return (
        total(metrics, "tidemark_remote_write_samples_accepted_total")
        + total(metrics, ignored, reason="no_role")
        + total(metrics, ignored, reason="no_container")
    )


def is_v2(entry):
    return any(name.lower() == "content-type" and "write.v2.request" in value.lower() for name, value in entry["headers"])


def written(headers):
    """The Written counts of an answer, as an index names them; None without any of their headers."""
    found = {kind: headers.get_all(name) for kind, name in WRITTEN.items()}
    if not any(found.values()):
        return None
    return {kind: int(values[0]) if values and len(values) == 1 else values for kind, values in found.items()}


def allowed_growth(entry):
    """How much memory the note of a case allows."""
    note = entry.get("note", "")
    if "memory" not in note:
        return DEFAULT_GROWTH
    number = re.search(r"(\d+) MB", note)
    # A little over "a few MB" and "about N MB": the allocator and the threads' stacks have their share.
    return (int(number.group(1)) + 8) * MIB if number else 16 * MIB


def read_index(folder):
    return json.loads((folder / "index.json").read_text())


class RealBodies(unittest.TestCase):
    def test_every_recorded_body_is_taken_in(self):
        folder = PAYLOADS / "rw1"
        index = read_index(folder)
        bodies = index["bodies"]
        self.assertTrue(bodies)
        with Daemon(max(body["arrived_ms"] for body in bodies)) as daemon:
            for body in bodies:
                with self.subTest(body["file"]):
                    status, _, text = daemon.send(body, folder)
                    self.assertEqual((status, text), (204, b""), daemon.last_log())
            metrics = daemon.metrics()
            accepted = total(metrics, "tidemark_remote_write_samples_accepted_total")
            ignored = total(metrics, "tidemark_remote_write_samples_ignored_total")
            self.assertEqual(accepted + ignored, sum(body["samples"] for body in bodies))
            self.assertGreater(accepted, 0)
            self.assertEqual(
                total(metrics, "tidemark_remote_write_series_entries_total"),
                sum(body["series"] for body in bodies),
            )
            self.assertEqual(total(metrics, "tidemark_remote_write_samples_rejected_total"), 0)
            self.assertTrue(daemon.is_alive())
        SUMMARY.append(f"rw1: {len(bodies)} bodies, {accepted:.0f} samples accepted, {ignored:.0f} ignored")

    def test_every_body_of_2_0_is_taken_in_and_its_answer_says_so(self):
        folder = PAYLOADS / "rw2"
        index = read_index(folder)
        bodies = index["bodies"]
        self.assertTrue(bodies)
        # The bodies of 2.0 hold the data of those of 1.0.
        clock_ms = max(body["arrived_ms"] for body in read_index(PAYLOADS / "rw1")["bodies"])
        with Daemon(clock_ms) as daemon:
            for body in bodies:
                with self.subTest(body["file"]):
                    status, headers, text = daemon.send(body, folder)
                    self.assertEqual((status, text), (body["expect"]["best_status"], b""), daemon.last_log())
                    self.assertEqual(written(headers), body["expect"]["written"])
            metrics = daemon.metrics()
            accepted = total(metrics, "tidemark_remote_write_samples_accepted_total")
            ignored = total(metrics, "tidemark_remote_write_samples_ignored_total")
            self.assertEqual(accepted + ignored, index["totals"]["samples"])
            self.assertGreater(accepted, 0)
            for kind in ("histograms", "exemplars"):
                self.assertEqual(total(metrics, f"tidemark_remote_write_{kind}_total"), index["totals"][kind])
            requests = "tidemark_remote_write_requests_total"
            self.assertEqual(total(metrics, requests, version="2.0", code="204"), len(bodies))
            self.assertEqual(total(metrics, "tidemark_remote_write_samples_rejected_total"), 0)
            self.assertTrue(daemon.is_alive())
        SUMMARY.append(f"rw2: {len(bodies)} bodies, {accepted:.0f} samples accepted, {ignored:.0f} ignored")


class FaultyBodies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = PAYLOADS / "bad"
        cls.index = read_index(cls.folder)
        cls.base_ms = cls.index["base_ts_ms"]
        cls.cases = cls.index["cases"]

    def check_status(self, entry, status, text):
        self.assertIn(status, entry["expect"]["status"], text)
        if "best_status" in entry["expect"]:
            self.assertEqual(status, entry["expect"]["best_status"], text)

    def check_written(self, entry, status, headers):
        counts = written(headers)
        if not is_v2(entry) or status == 415:
            self.assertIsNone(counts)
            return
        self.assertIsNotNone(counts)
        if "written" in entry["expect"]:
            self.assertEqual(counts, entry["expect"]["written"])

    def test_one_daemon_survives_all_of_them(self):
        self.assertTrue(self.cases)
        worst = (0, "")
        with Daemon(self.base_ms) as daemon:
            idle = daemon.memory("VmRSS")
            highest = idle
            good = 0
            for entry in self.cases:
                with self.subTest(entry["file"]):
                    before = daemon.memory("VmRSS")
                    daemon.reset_peak()
                    status, headers, text = daemon.send(entry, self.folder)
                    peak = daemon.memory("VmHWM")
                    highest = max(highest, peak)
                    growth = peak - before
                    worst = max(worst, (growth, entry["file"]))
                    self.assertTrue(daemon.is_alive(), daemon.last_log())
                    self.check_status(entry, status, text)
                    self.check_written(entry, status, headers)
                    self.assertLessEqual(len(text), 1024)
                    self.assertLessEqual(growth, allowed_growth(entry), "peak memory grew")

                    started = time.monotonic()
                    one = series({"__name__": "up", "job": "payloads_test"}, 1.0, self.base_ms + good)
                    status, _, text = daemon.write(pack(one))
                    self.assertEqual(status, 204, text)
                    self.assertLess(time.monotonic() - started, PROMPT_SECONDS, "the next good request had to wait")
                    good += 1
            self.assertLessEqual(highest - idle, WHOLE_SET_GROWTH, "memory over idle, over the whole set")
        SUMMARY.append(
            f"bad: {len(self.cases)} bodies in one daemon; peak memory {(highest - idle) / MIB:.1f} MiB over idle;"
            f" it grew most, {worst[0] / MIB:.1f} MiB, with {worst[1]}"
        )

    def test_each_takes_in_exactly_its_good_samples(self):
        checked = 0
        for entry in self.cases:
            expected = entry["expect"].get("samples_taken")
            if expected is None:
                continue
            with self.subTest(entry["file"]):
                # A daemon of its own: what is late or a duplicate depends on what came before.
                with Daemon(self.base_ms) as daemon:
                    before = taken(daemon.metrics())
                    status, headers, text = daemon.send(entry, self.folder)
                    self.check_status(entry, status, text)
                    self.check_written(entry, status, headers)
                    self.assertEqual(taken(daemon.metrics()) - before, expected, text)
                checked += 1
        self.assertGreater(checked, 0)
        SUMMARY.append(f"bad: {checked} bodies, each in a daemon of its own")


def main():
    binary = os.environ.get("TIDEMARK_BIN", "")
    arguments = sys.argv[1:]
    if arguments and not arguments[0].startswith("-") and os.sep in arguments[0]:
        binary = arguments.pop(0)
    if not binary or not os.access(binary, os.X_OK):
        print(f"no tidemark to run: {binary or 'give its path or set TIDEMARK_BIN'}", file=sys.stderr)
        return 2
    programs.BINARY = binary
    program = unittest.main(argv=[sys.argv[0], *arguments], exit=False)
    for line in SUMMARY:
        print(line)
    return 0 if program.result.wasSuccessful() and program.result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
