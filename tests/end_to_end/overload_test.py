#!/usr/bin/env python3
"""Three times the load that the daemon can bear, and what must hold then (row 46 of docs/remote-write.md).

Only 204 and 503 are answered, memory stays flat, other requests do not notice, all is normal again within ten seconds
after, and nothing that was acknowledged is lost nor anything that was refused half applied.

usage: TIDEMARK_BIN=build/release/bin/tidemark overload_test.py

TIDEMARK_OVERLOAD_SECONDS: how long the overload lasts, 120 when not set.
"""

import json
import os
import pathlib
import statistics
import time
import unittest

from load import SAMPLES, Sender, drive
from programs import Daemon, total, wait_for

SECONDS = float(os.environ.get("TIDEMARK_OVERLOAD_SECONDS") or 120)
SENDERS = 64
CAPACITY_SENDERS = 8  # so few that they alone are never refused
CAPACITY_SECONDS = 3
CAPACITY_ROUNDS = 3  # the best counts: another program may disturb one
FACTOR = 3
RECOVERY_SECONDS = 10
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20
# Bodies are some 65 KB and unpack to 700 KB: it is memory that runs out first. The daemon gets one
# CPU, and steps back behind the load on it, so that three times what it can do can be made on a busy machine too.
CONFIG = """
remote_write: {max_body_size: 1MB, max_unpacked_size: 4MB}
limits: {max_inflight_size: 8MB}
"""
# What is resident besides state and budget: buffers that are kept from request to request, the allocator's arenas.
ALLOWED_GROWTH = 64 * MIB
# A sender gives a request up after 30 s. An answer must come before, also on a busy machine.
PATIENCE_SECONDS = 25


def cpu_seconds(daemon):
    """What it has used so far (proc(5), stat)."""
    fields = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


class Overload(unittest.TestCase):
    def test_three_times_the_capacity(self):
        start_ms = int((time.time() - 3600) * 1000)
        senders = [Sender(number, start_ms) for number in range(SENDERS)]
        cpus = {min(os.sched_getaffinity(0))}
        with Daemon(CONFIG, cpus=cpus, nice=3) as daemon:
            acknowledged = 0

            def load(which, seconds, **how):
                nonlocal acknowledged
                tally = drive(daemon.port, which, seconds, **how)
                acknowledged += tally.statuses[204]
                self.assertLessEqual(set(tally.statuses), {204, 503}, tally.texts)
                self.assertEqual(tally.broken, 0, daemon.last_log())
                self.assertEqual(sum(tally.statuses.values()), tally.sent)
                return tally

            # All series are made first, so that the load is the steady one.
            for sender in senders:
                self.assertEqual(daemon.write(sender.body(0))[0], 204, daemon.last_log())
                sender.acknowledged = 0
                acknowledged += 1
            known = total(daemon.metrics(), "tidemark_remote_write_series")
            self.assertEqual(known, SENDERS * SAMPLES)

            quiet = [self.timed_write(daemon, senders[n % SENDERS]) for n in range(40)]
            acknowledged += len(quiet)
            capacity = per_cpu_second = 0
            for _ in range(CAPACITY_ROUNDS):
                used = cpu_seconds(daemon)
                flat_out = load(senders[:CAPACITY_SENDERS], CAPACITY_SECONDS)
                per_cpu_second = max(per_cpu_second, flat_out.statuses[204] / (cpu_seconds(daemon) - used))
                self.assertEqual(set(flat_out.statuses), {204}, flat_out.texts)
                capacity = max(capacity, flat_out.statuses[204] / CAPACITY_SECONDS)
            before = daemon.memory()

            resident, health = [], []

            def watch():
                resident.append(daemon.memory())
                began = time.monotonic()
                self.assertEqual(daemon.get("/-/healthy")[0], 200)
                health.append(time.monotonic() - began)

            used = cpu_seconds(daemon)
            over = load(senders, SECONDS, rate=FACTOR * capacity, factor=FACTOR, meanwhile=watch)
            ended = time.monotonic()
            used = cpu_seconds(daemon) - used
            self.report(capacity, over, resident, before, health, quiet)

            # It was an overload, and it was answered as one.
            self.assertGreaterEqual(over.sent, 0.95 * FACTOR * over.statuses[204])
            self.assertEqual(over.without_retry_after, 0)
            self.assertGreaterEqual(over.longest_retry_after, 30, "the wait does not grow")
            self.assertLess(max(over.acknowledged_seconds), PATIENCE_SECONDS)
            self.assertLess(over.slowest_refusal_seconds, PATIENCE_SECONDS)
            self.assertLess(max(health), PATIENCE_SECONDS)
            # The work goes into what is taken in: refusals must not eat it up. By the daemon's own time, since other programs
            # may run now that did not when its capacity was measured.
            self.assertGreater(over.statuses[204] / used, per_cpu_second / 3)
            # Connections are kept, whatever is answered.
            self.assertLess(over.connections, 2 * SENDERS)

            self.assertLess(max(resident) - before, ALLOWED_GROWTH)
            quarter = len(resident) // 4
            self.assertLess(statistics.mean(resident[-quarter:]) - statistics.mean(resident[quarter : 2 * quarter]),
                            ALLOWED_GROWTH / 4, "memory grows with time")

            # Back to normal: the first answer within ten seconds, and then only good ones, as quick as before.
            while self.refused(daemon, senders[0]):
                self.assertLess(time.monotonic() - ended, RECOVERY_SECONDS)
            acknowledged += 1
            after = [self.timed_write(daemon, senders[n % SENDERS]) for n in range(40)]
            acknowledged += len(after)
            self.assertLess(time.monotonic() - ended, RECOVERY_SECONDS + 40 * max(after))
            self.assertLess(statistics.median(after), max(0.25, 5 * statistics.median(quiet)))

            # Each acknowledged sample is counted, and no other.
            metrics = daemon.metrics()
            accepted = total(metrics, "tidemark_remote_write_samples_accepted_total")
            self.assertEqual(accepted, acknowledged * SAMPLES)
            self.assertEqual(total(metrics, "tidemark_remote_write_samples_ignored_total"), 0)
            self.assertEqual(total(metrics, "tidemark_remote_write_samples_rejected_total"), 0)
            refusals = total(metrics, "tidemark_remote_write_overload_refusals_total")
            self.assertEqual(refusals, total(metrics, "tidemark_remote_write_requests_total", code="503"))
            self.assertGreaterEqual(refusals, over.statuses[503])
            # The last answer is there before its request has let go.
            wait_for("nothing is under way", lambda: total(daemon.metrics(), "tidemark_http_inflight_bytes") == 0)
            self.assertEqual(total(metrics, "tidemark_http_inflight_limit_bytes"), 8 * MIB)

            # What was acknowledged last is known: all of it is a duplicate now.
            for sender in senders:
                self.assertEqual(daemon.write(sender.body(sender.acknowledged))[0], 204)
            metrics = daemon.metrics()
            duplicates = total(metrics, "tidemark_remote_write_samples_ignored_total", reason="duplicate")
            self.assertEqual(duplicates, SENDERS * SAMPLES)
            self.assertEqual(total(metrics, "tidemark_remote_write_samples_accepted_total"), accepted)
            # What was refused last is not: all of it is new.
            for sender in senders:
                self.assertEqual(daemon.write(sender.body(sender.acknowledged + 1))[0], 204)
            metrics = daemon.metrics()
            self.assertEqual(total(metrics, "tidemark_remote_write_samples_accepted_total"),
                             accepted + SENDERS * SAMPLES)
            self.assertEqual(total(metrics, "tidemark_remote_write_samples_ignored_total"), duplicates)
            self.assertEqual(total(metrics, "tidemark_remote_write_series"), known)
            for sender in (senders[0], senders[-1]):
                status, _, text = daemon.get(f"/api/v1/recommendations?namespace={sender.namespace}")
                self.assertEqual(status, 200)
                self.assertIn('"statefulset"', json.dumps(json.loads(text)))
            self.assertEqual(daemon.stop(), 0)

    def timed_write(self, daemon, sender):
        began = time.monotonic()
        self.assertEqual(daemon.write(sender.body(sender.acknowledged + 1))[0], 204)
        sender.acknowledged += 1
        return time.monotonic() - began

    def refused(self, daemon, sender):
        status, _, text = daemon.write(sender.body(sender.acknowledged + 1))
        self.assertIn(status, (204, 503), text)
        sender.acknowledged += status == 204
        return status == 503

    def report(self, capacity, over, resident, before, health, quiet):
        took = sorted(over.acknowledged_seconds)
        print(f"capacity {capacity:.0f} requests/s of {SAMPLES} samples ({capacity * SAMPLES:.0f} samples/s on one CPU); "
              f"overload {over.sent / SECONDS:.0f}/s for {SECONDS:.0f} s: {over.statuses[204] / SECONDS:.0f}/s taken in, "
              f"{over.statuses[503] / SECONDS:.0f}/s refused ({dict(over.texts)}); taken in within "
              f"{took[len(took) // 2]:.3f} s (median), {took[-1]:.3f} s (most), quiet {statistics.median(quiet):.3f} s; "
              f"refusals at most {over.slowest_refusal_seconds:.3f} s; /-/healthy at most {max(health):.3f} s; "
              f"{over.connections} connections; memory {before / MIB:.0f} MiB before, {max(resident) / MIB:.0f} MiB at most",
              flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
