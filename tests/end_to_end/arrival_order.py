"""What may come out otherwise when one queue of a Prometheus is ahead of another.

Remote write spreads series over several queues (`min_shards`, `max_shards`). Each keeps the order of its own series.
But when a receiver comes back from a kill the queues catch up one by one, and what is told of a container beside its
usage comes earlier or later than that, and minutes of several pods in another order. Three things follow from this
order; all else must be the same.

Throttling: a minute of CPU is judged when the first usage of the next minute comes. If the CFS periods, or those in
which the container was held back, are some seconds behind or ahead then, their share is a little larger or smaller.
From `throttled_from` (a quarter) on a minute counts for more, so that one near it may do so here and not there.

Marks: the first observation of a container says at which minute of the hour its high-water marks are fitted, and it is
one of another of its pods. In a stream of minutes that hour comes for one daemon and not for the other.

Ties: of a few samples that weigh the same a percentile may lie exactly between two, as the median of four does. Which
of them it is then follows from how weights were rounded (kept_state.BUCKET_TOLERANCE), and so from their order.
"""

import json
import math
import re
import urllib.parse

from kept_state import BUCKET_TOLERANCE
from killing import MARK, different_lines
from programs import get

# Half of `throttled_from`: as much as a queue that is half a minute behind takes away.
HELD_BACK_FROM = 0.125
# A quarter of its periods makes at most a quarter more of a minute; buckets, whose ends requests are, grow by 5 %.
BUCKET_RATIO = 1.05
MOST_APART = 1.25 * BUCKET_RATIO**2
MOST_BUCKETS_APART = math.log(MOST_APART) / math.log(BUCKET_RATIO)
AMOUNTS = re.compile("tidemark_(model_request|recommended_request(_lower_bound|_upper_bound)?|high_water_mark){")
# The percentiles of the default profile, in as short a time.
PERCENTILES = {"tidemark_model_request": 0.9, "tidemark_recommended_request": 0.9,
               "tidemark_recommended_request_lower_bound": 0.5, "tidemark_recommended_request_upper_bound": 0.95}
ROUNDING = 0.001  # of cores; bytes are whole
# (Request now − request recommended) · pods; it follows from lines that are compared.
RECLAIMABLE = "tidemark_reclaimable{"

RATIO = """max by (namespace, container) (max_over_time((
    increase(container_cpu_cfs_throttled_periods_total[1m]) / increase(container_cpu_cfs_periods_total[1m]))[1h:1m]))"""


def held_back(prometheus):
    """{(namespace, container)} of those that were throttled in HELD_BACK_FROM of a whole minute or more."""
    query = urllib.parse.quote(f"{RATIO} >= {HELD_BACK_FROM}")
    rows = json.loads(get(f"http://{prometheus}/api/v1/query?query={query}"))["data"]["result"]
    return {(row["metric"]["namespace"], row["metric"]["container"]) for row in rows}


class ArrivalOrder:
    """Compares two daemons that were sent the same, each series in order.

    `held_back`: as above. `kept`: what one of them keeps (kept_state.inspect).
    """

    def __init__(self, held_back, kept):
        self.held_back = held_back
        self.kept = {tuple(key[1:]): entry for key, entry in kept.items()}
        self.of_several_pods = {tuple(key[1:]) for key, entry in kept.items() if self._is_of_several_pods(entry)}

    @staticmethod
    def _is_of_several_pods(entry):
        """There are more samples than minutes."""
        if not entry.get("samples"):
            return False
        return entry["samples"] > (entry["last_sample_ms"] - entry["first_sample_ms"]) / 60_000 + 1

    def different_lines(self, ours, theirs):
        """As killing.different_lines, less what the order makes."""
        excused = {line for line in ours.keys() | theirs.keys()
                   if self._may_differ(line, ours.get(line), theirs.get(line))}
        return different_lines(*({line: value for line, value in lines.items() if line not in excused}
                                 for lines in (ours, theirs)))

    def _may_differ(self, line, one, other):
        labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', line))
        key = tuple(labels.get(name) for name in ("namespace", "workload_type", "workload", "container", "resource"))
        if line.startswith(MARK) and (one is None) != (other is None):
            return key in self.of_several_pods
        if line.startswith(RECLAIMABLE):
            return self._is_tied(key, 0.9) or (key[4] == "cpu" and (key[0], key[3]) in self.held_back)
        percentile = PERCENTILES.get(line.partition("{")[0])
        if percentile and None not in (one, other) and self._is_tied(key, percentile, float(one), float(other)):
            return True
        if labels.get("resource") != "cpu" or (labels["namespace"], labels.get("container")) not in self.held_back:
            return False
        return bool(AMOUNTS.match(line)) and None not in (one, other) and self._are_near(float(one), float(other))

    def _is_tied(self, key, percentile, one=0.0, other=0.0):
        """Whether the percentile lies between two buckets, and `one` and `other` are no further apart than these."""
        buckets = self.kept.get(key, {}).get("buckets", [])
        total = sum(weight for _, weight in buckets)
        below = 0
        for (bucket, weight), (following, _) in zip(buckets, buckets[1:]):
            below += weight
            if abs(below - percentile * total) <= BUCKET_TOLERANCE * total:
                # The ratio of their ends; both are rounded up.
                most = (BUCKET_RATIO ** (following + 1) - 1) / (BUCKET_RATIO ** (bucket + 1) - 1)
                return max(one, other) <= most * min(one, other) * (1 + 1e-9) + (ROUNDING if key[4] == "cpu" else 1)
        return False

    @staticmethod
    def _are_near(one, other):
        return max(one, other) <= MOST_APART * min(one, other)

    def without_buckets(self, kept, whole):
        """Both, less the buckets of those held back where these are no further apart than they may be. Total weights,
        counts and times stay."""
        excused = {key for key in kept.keys() & whole.keys()
                   if key[5] == "cpu" and (key[1], key[4]) in self.held_back
                   and abs(self._middle(kept[key]) - self._middle(whole[key])) <= MOST_BUCKETS_APART}
        return tuple({key: {name: value for name, value in entry.items() if key not in excused or name != "buckets"}
                      for key, entry in entries.items()} for entries in (kept, whole))

    @staticmethod
    def _middle(entry):
        """The mean number of the buckets, by weight."""
        weight = sum(weight for _, weight in entry["buckets"])
        return sum(bucket * weight for bucket, weight in entry["buckets"]) / weight if weight > 0 else 0
