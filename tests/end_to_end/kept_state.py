"""What a Tidemark has made of what it was sent, and how two of them differ."""

import json
import math
import os
import re
import subprocess

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
WEIGHT_TOLERANCE = 1e-9
# Buckets are kept in four bytes and rounded by chance, which follows the order of the samples. One that is lost shows in
# the total and the number of samples.
BUCKET_TOLERANCE = 1e-4
WEIGHTS = {"total_weight", "reference_ms", "buckets"}
HALF_LIFE_MS = 24 * 3600 * 1000


def advice_lines(text):
    """{series: value} of the lines of /metrics that are about workloads."""
    lines = {}
    for line in text.splitlines():
        found = re.fullmatch(r'(tidemark_\w+\{[^}]*\bworkload="[^}]*\}) (\S+)', line)
        if found:
            lines[found.group(1)] = found.group(2)
    return lines


def inspect(path, config=""):
    """{identity: what is kept} of a store: of each namespace, and of each resource of each container.

    `config`: the file of the daemon that wrote it, where that has profiles.
    """
    run = subprocess.run([TIDETOOL, "storage", "inspect", "--state", f"--config.file={config}", path], text=True, capture_output=True, timeout=120)
    if run.returncode != 0:
        raise AssertionError(f"tidetool storage inspect ended with {run.returncode}: {run.stderr[-500:]}")
    entries = {}
    for line in run.stdout.splitlines():
        entry = json.loads(line)
        key = tuple(entry.get(name, "") for name in
                    ("cluster", "namespace", "workload_type", "workload", "container", "resource"))
        if key in entries:
            raise AssertionError(f"{key} is there twice")
        entries[key] = entry
    return entries


def samples(entries):
    return sum(entry.get("samples", 0) for entry in entries.values())


def differences(ours, theirs, most=10):
    """Texts that say how two results of inspect() differ; none when they are equal as far as arithmetic allows."""
    found = []
    for key in sorted(ours.keys() ^ theirs.keys()):
        found.append(f"{key}: only in the {'first' if key in ours else 'second'}")
    for key in sorted(ours.keys() & theirs.keys()):
        found += [f"{key}: {text}" for text in _differences_of_entry(ours[key], theirs[key])]
    return found[:most] + ([f"… and {len(found) - most} more"] if len(found) > most else [])


def _differences_of_entry(ours, theirs):
    for name in sorted((ours.keys() | theirs.keys()) - WEIGHTS):
        if ours.get(name) != theirs.get(name):
            yield f"{name} {ours.get(name)} and {theirs.get(name)}"
    if "total_weight" not in ours or "total_weight" not in theirs:
        return
    # Weights are relative to a moment, which may be another one.
    scale = 2.0 ** ((theirs["reference_ms"] - ours["reference_ms"]) / HALF_LIFE_MS)
    if not _close(ours["total_weight"], theirs["total_weight"] * scale, ours["total_weight"]):
        yield f"total_weight {ours['total_weight']} and {theirs['total_weight'] * scale}"
    if "buckets" not in ours or "buckets" not in theirs:
        return
    first, second = dict(map(tuple, ours["buckets"])), dict(map(tuple, theirs["buckets"]))
    for bucket in sorted(first.keys() | second.keys()):
        weights = first.get(bucket, 0.0), second.get(bucket, 0.0) * scale
        if not _close(*weights, ours["total_weight"], BUCKET_TOLERANCE):
            yield f"bucket {bucket} weighs {weights[0]} and {weights[1]}"


def _close(one, other, total, tolerance=WEIGHT_TOLERANCE):
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance * 1e-3 * total)
