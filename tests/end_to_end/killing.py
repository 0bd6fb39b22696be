"""Kills of a daemon at aimed moments, and what it has made of its input in the end."""

import math
import os
import random
import sys
import time

import kept_state
from programs import total

SEED = int(os.environ.get("TIDEMARK_KILL_SEED") or random.randrange(10**9))
AIM_SECONDS = 60  # in which something aimed at must have come by


def log(text):
    print(text, file=sys.stderr, flush=True)


class Clock:
    """Flags that let the wall clock stand at the end of the stream when the test begins, and run on over restarts."""

    def __init__(self, stream):
        self.offset_ms = stream.end_ms - int(time.time() * 1000)

    def flags(self):
        return [f"--clock.start={int(time.time() * 1000) + self.offset_ms}"]


class Killer:
    """Ends a daemon at a moment and starts it again."""

    def __init__(self, daemon, draw, down_seconds=0):
        self.daemon = daemon
        self.draw = draw
        self.down_seconds = down_seconds
        self.recovered = 0  # records of the journal that were replayed
        self.kills = 0
        self.hits = {}

    def _files(self):
        try:
            return {entry.name for entry in os.scandir(self.daemon.storage) if entry.name.startswith("checkpoint")}
        except FileNotFoundError:
            return set()

    def _finished(self):
        return {name for name in self._files() if name.endswith(".sst")}

    def _poll(self, condition):
        deadline = time.monotonic() + AIM_SECONDS
        while time.monotonic() < deadline:
            if condition():
                return True
            time.sleep(0.0005)
        return False

    def strike(self, aim):
        """One kill (with `recovery` two) and the start after it; `aim` names the moment."""
        hit = getattr(self, "_aim_" + aim)()
        self.hits[aim] = self.hits.get(aim, 0) + bool(hit)
        self.daemon.kill()
        self.kills += 1
        if aim == "recovery":
            self.daemon.launch()
            time.sleep(self.draw.uniform(0, 0.25))
            self.daemon.kill()
            self.kills += 1
        self.come_back(aim)

    def come_back(self, aim):
        """The start after a kill."""
        time.sleep(self.down_seconds)
        self.daemon.start()
        metrics = self.daemon.metrics()
        self.recovered += total(metrics, "tidemark_storage_recovered_records_total")
        # The disk itself has not failed: nothing may be damaged, and nothing that was journaled unknown.
        for name in ("damaged_checkpoints", "missed_series"):
            if metrics[(f"tidemark_storage_{name}_total", frozenset())] != 0:
                raise AssertionError(f"{name} after a kill ({aim}):\n{self.daemon.last_log()}")

    def _aim_random(self):
        time.sleep(self.draw.uniform(0, 0.5))
        return True

    _aim_recovery = _aim_random

    def _aim_checkpoint(self):
        """While the file of one is being written."""
        hit = self._poll(lambda: any(name.endswith(".tmp") for name in self._files()))
        time.sleep(self.draw.choice((0, 0, 0.001, 0.003)))
        return hit

    def _aim_trim(self):
        """When one has just become the newest: those before it and the journal are being cut."""
        before = self._finished()
        hit = self._poll(lambda: self._finished() - before)
        time.sleep(self.draw.choice((0, 0.001, 0.005, 0.02)))
        return hit


def final_state(daemon):
    """(lines of /metrics, kept state) after an orderly end."""
    daemon.wait_for_tick()
    lines = kept_state.advice_lines(daemon.get("/metrics")[2].decode())
    code = daemon.stop()
    if code != 0:
        raise AssertionError(f"tidemark ended with {code}:\n{daemon.last_log()}")
    return lines, kept_state.inspect(daemon.storage)


# Marks are fitted once an hour to the minutes that have come by then, which of several pods may be others when requests are
# sent again.
MARK = ("tidemark_high_water_mark{", "tidemark_high_water_demand{", "tidemark_high_water_load_ratio{")
MARK_TOLERANCE = 0.2
# A workload near the border of two classes stays in the one it was in, which a restart forgets.
CLASS = "tidemark_workload_profile_info{"


def different_lines(ours, theirs):
    def differs(line):
        if line.startswith(CLASS):
            return False
        one, other = ours.get(line), theirs.get(line)
        if line.startswith(MARK) and one is not None and other is not None:
            return not math.isclose(float(one), float(other), rel_tol=MARK_TOLERANCE)
        return one != other
    return [f"{line} {ours.get(line)} instead of {theirs.get(line)}"
            for line in sorted(ours.keys() | theirs.keys()) if differs(line)]
