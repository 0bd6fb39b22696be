"""Stores that earlier versions have written, checked in, give the same state and the same advice for ever.

`golden_store_test.py --make FOLDER` writes one of the present format: for a new version of it, never over an old one.
"""

import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from kept_state import advice_lines, differences, inspect
from programs import Daemon, pack, series

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
TIDEMARK = os.environ.get("TIDEMARK_BIN", "build/release/bin/tidemark")
STORES = pathlib.Path(__file__).resolve().parent.parent / "data" / "stores"
START_MS = 1_790_000_000_000
CLOCK = f"--clock.start={START_MS + 30 * 24 * 3_600_000}"
# Every way of keeping a history: by label sets, summed by pod, each minute by its request, each day's peak.
CONFIG = """
profiles:
  - {name: strict, selector: '{workload_type="statefulset"}', preset: vpa, strict: true}
  - {name: sums, selector: '{workload_type="daemonset"}', level: pod}
  - {name: shared, selector: '{workload=~".*[0-4]"}', preset: oversell}
# By the stock formula: how Tidemark's own policy decides may become better.
scaling: {workloads: [{selector: '{workload_type="deployment"}', policy: hpa, max_replicas: 20}]}
"""


def content(folder):
    """{path: hash} of all files in it."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def golden_lines(path):
    return gzip.decompress(path.read_bytes()).decode()


def killed(kills):
    """Two pods that have labels and an original request, and are killed for memory."""
    body = b""
    for pod, kind, labels in (("gold-0", "StatefulSet", {"label_app": "gold"}), ("gilt-0", "DaemonSet", {})):
        names = {"namespace": "gold", "pod": pod, "uid": pod}
        facts = [("kube_pod_owner", {"owner_kind": kind, "owner_name": pod[:-2], "owner_is_controller": "true"}, 1.0),
                 ("kube_pod_labels", labels, 1.0),
                 ("kube_pod_annotations", {"annotation_tidemark_io_original_resources":
                                           '{"app":{"requests":{"cpu":"2","memory":"1Gi"}}}'}, 1.0)]
        of_container = [("kube_pod_container_resource_requests", {"resource": "memory", "unit": "byte"}, 3e8),
                        ("kube_pod_container_status_restarts_total", {}, float(kills)),
                        ("container_memory_working_set_bytes", {}, 2e8 + 1e6 * kills),
                        ("container_cpu_usage_seconds_total", {"cpu": "total"}, 30.0 * kills)]
        if kills:
            of_container.append(("kube_pod_container_status_last_terminated_reason", {"reason": "OOMKilled"}, 1.0))
        facts += [(name, dict(more, container="app"), value) for name, more, value in of_container]
        for name, more, value in facts:
            body += series(dict(names, __name__=name, **more), value, START_MS + 600_000 + 60_000 * kills)
    scaler = {"namespace": "gold", "horizontalpodautoscaler": "gold"}
    of_namespace = [
        ("kube_horizontalpodautoscaler_info", {**scaler, "scaletargetref_kind": "StatefulSet",
                                               "scaletargetref_name": "gold"}, 1.0),
        ("kube_horizontalpodautoscaler_spec_max_replicas", scaler, 9.0),
        ("kube_horizontalpodautoscaler_spec_target_metric",
         {**scaler, "metric_name": "memory", "metric_target_type": "utilization"}, 70.0),
        ("kube_limitrange", {"namespace": "gold", "limitrange": "all", "resource": "cpu", "type": "Container",
                             "constraint": "max"}, 8.0)]
    for name, labels, value in of_namespace:
        body += series(dict(labels, __name__=name), value, START_MS + 600_000 + 60_000 * kills)
    return pack(body)


def make(folder):
    """A checkpoint, a journal behind it, and no orderly end."""
    def load(daemon, start_ms, rounds):
        subprocess.run([TIDETOOL, "loadgen", f"--url=http://127.0.0.1:{daemon.port}/api/v1/write", "--containers=12",
                        f"--rounds={rounds}", f"--start={start_ms}", "--churn=0.5", "--connections=1",
                        "--samples-per-request=500"], check=True, stdout=subprocess.DEVNULL)

    with Daemon(CONFIG, flags=[CLOCK]) as daemon:
        load(daemon, START_MS, 60)
        for kills in range(4):
            daemon.write(killed(kills))
        daemon.stop()
        daemon.start()
        load(daemon, START_MS + 60 * 15_000, 20)
        daemon.write(killed(4))
        daemon.kill()
        shutil.copytree(daemon.storage, folder / "store", ignore=shutil.ignore_patterns("lock", "LOG*", "LOCK", "OPTIONS*"))
        state = subprocess.run([TIDETOOL, "storage", "inspect", "--state", f"--config.file={daemon.config}",
                                daemon.storage], check=True, capture_output=True).stdout
        daemon.start()
        advice = "".join(f"{series} {value}\n" for series, value in
                         sorted(advice_lines(daemon.get("/metrics")[2].decode()).items())
                         if not series.startswith("tidemark_forecast_"))  # how one forecasts may become better
    (folder / "tidemark.yml").write_text(CONFIG)
    for name, text in (("state.jsonl.gz", state), ("advice.txt.gz", advice.encode())):
        (folder / name).write_bytes(gzip.compress(text, mtime=0))


class GoldenStores(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-golden-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def copy_of(self, golden):
        path = self.folder / golden.name
        shutil.copytree(golden / "store", path)
        return path

    def test_every_format_is_there(self):
        self.assertEqual({path.name for path in STORES.iterdir()}, {"format-1", "format-2", "format-3", "format-4", "format-5",
                                                                   "format-6"})

    def test_state_and_advice_are_those_of_the_version_that_wrote_it(self):
        for golden in sorted(STORES.iterdir()):
            with self.subTest(golden.name):
                path = self.copy_of(golden)
                before = content(path)
                written = self.folder / f"{golden.name}.jsonl"
                written.write_text(golden_lines(golden / "state.jsonl.gz"))
                config = golden / "tidemark.yml"
                flags = [f"--config.file={config}"] if config.exists() else []
                self.assertEqual(subprocess.run([TIDETOOL, "storage", "inspect", "--state", *flags, str(path)], check=True,
                                                capture_output=True, text=True).stdout, written.read_text())
                verified = subprocess.run([TIDETOOL, "storage", "verify", str(path)], capture_output=True, text=True)
                self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
                self.assertEqual(content(path), before)  # only read
                with Daemon(config.read_text() if config.exists() else "", flags=[CLOCK], storage=str(path)) as daemon:
                    # Metrics that the version which wrote it did not have yet are no difference.
                    advice = advice_lines(daemon.get("/metrics")[2].decode())
                    golden_advice = advice_lines(golden_lines(golden / "advice.txt.gz"))
                    self.assertEqual({series: advice.get(series) for series in golden_advice}, golden_advice)
                    families = {series.partition("{")[0] for series in golden_advice}
                    self.assertEqual({series for series in advice if series.partition("{")[0] in families},
                                     golden_advice.keys())
                    state = inspect(daemon.storage, daemon.config)
                    self.assertEqual(daemon.stop(), 0)
                    self.assertEqual(differences(inspect(daemon.storage, daemon.config), state), [])

    def test_an_unknown_version_is_refused_and_left_alone(self):
        path = self.copy_of(sorted(STORES.iterdir())[-1])
        (path / "FORMAT").write_text("tidemark-storage 99\n")
        before = content(path)
        for command in ([TIDEMARK, "--web.listen-address=127.0.0.1:0", f"--storage.path={path}"],
                        [TIDETOOL, "storage", "inspect", str(path)]):
            run = subprocess.run(command, capture_output=True, text=True, timeout=120)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn("99", run.stderr)
            self.assertIn(str(path), run.stderr)
            self.assertEqual(content(path), before)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--make":
        target = pathlib.Path(sys.argv[2])
        target.mkdir(parents=True)
        make(target)
    else:
        unittest.main(verbosity=2)
