#!/usr/bin/env python3
"""History from the first minute: a real Prometheus with a day of blocks, a daemon that takes it in.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool backfill_test.py
"""

import http.client
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

from history import History, container, restarts
from programs import PATIENCE_SECONDS, Daemon, free_port, pack, series, total, wait_for

TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
HOUR = 3600
NOW = int(time.time()) // 60 * 60
START = NOW - 26 * HOUR
MANY = [f"team-{i:03}" for i in range(120)]  # more than fit into one unit
CORES, BYTES = 0.4, 3e8
# Of the whole day, and of three hours in many namespaces.
SERIES = container("shop", "web", "aaaaa", START, NOW, CORES, BYTES)
for team in MANY:
    SERIES += container(team, "job", "ccccc", NOW - 3 * HOUR, NOW, 0.1, 1e8)


class Proxy(http.server.ThreadingHTTPServer):
    """Stands before a Prometheus: notes range queries, delays them, answers in its place."""

    daemon_threads = True

    def __init__(self, upstream):
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.upstream = upstream
        self.queries = []
        self.delay = 0
        self.instead = None  # (path, parameters) -> (status, body) or None
        self.held = ""  # a range query with this text waits until let_go
        self.released = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def let_go(self):
        self.held = ""
        self.released.set()

    def namespaces_asked(self):
        return {name for name in MANY + ["shop"] for query in self.queries
                if f'"{name}"' in query or f'{name}|' in query or f'|{name}"' in query}


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parsed = urllib.parse.urlsplit(self.path)
        parameters = dict(urllib.parse.parse_qsl(parsed.query) + urllib.parse.parse_qsl(body.decode()))
        if parsed.path.endswith("query_range"):
            self.server.queries.append(parameters["query"])
            time.sleep(self.server.delay)
            if self.server.held and self.server.held in parameters["query"]:
                self.server.released.wait(PATIENCE_SECONDS)
        instead = self.server.instead and self.server.instead(parsed.path, parameters)
        if instead:
            status, content = instead
        else:
            upstream = urllib.parse.urlsplit(self.server.upstream)
            connection = http.client.HTTPConnection(upstream.hostname, upstream.port, timeout=60)
            connection.request(self.command, self.path, body or None,
                               {"Content-Type": self.headers.get("Content-Type", "")})
            response = connection.getresponse()
            status, content = response.status, response.read()
            connection.close()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            pass  # the daemon was killed

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def status_of(daemon):
    code, _, body = daemon.get("/api/v1/status/backfill")
    assert code == 200, (code, body)
    return json.loads(body)["data"]


def wait_for_end(daemon):
    return wait_for("the back-fill ends", lambda: (
        lambda status: status if status["state"] not in ("running", "idle") else None)(status_of(daemon)), 300)


def recommendations(daemon, namespace, resource):
    """As of the daemon's last tick: after anything is taken in, wait for the next."""
    body = json.loads(daemon.get(f"/api/v1/recommendations?namespace={namespace}&resource={resource}")[2])
    return body["data"]["recommendations"]


def config_of(url, **more):
    return json.dumps({"backfill": {"url": url, "range": "1d", **more}})  # YAML is a superset


def tidetool(daemon, *arguments, **more):
    return subprocess.run([TIDETOOL, "backfill", f"--tidemark=http://127.0.0.1:{daemon.port}", *arguments],
                          capture_output=True, text=True, timeout=300, **more)


class Backfill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-backfill-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.prometheus = History(cls.folder, SERIES)
        cls.prometheus.start()
        cls.addClassCleanup(cls.prometheus.stop)

    def check_recommendation(self, daemon, **labels):
        # That of the live minutes alone, or of a part of the past, may stand already.
        daemon.wait_for_tick()
        (cpu,) = recommendations(daemon, "shop", "cpu")
        self.assertEqual((cpu["workload_type"], cpu["workload"], cpu["container"]), ("deployment", "web", "app"))
        for name, value in labels.items():
            self.assertEqual(cpu.get(name), value)
        self.assertAlmostEqual(cpu["confidence_days"], 1, delta=0.1)
        for mark in cpu["high_water"]:  # of the past, too
            self.assertAlmostEqual(mark["value"] / CORES, 1, delta=0.05)
        # What is steady needs little room; in the first day of hours a percentile, whose bucket ends at most 5.5 % higher,
        # and 15 % stand in.
        self.assertGreater(cpu["recommended_request"], CORES * 0.95)
        self.assertLess(cpu["recommended_request"], CORES * 1.15 * 1.12)
        (memory,) = recommendations(daemon, "shop", "memory")
        self.assertGreater(memory["recommended_request"], BYTES * 1.09)
        self.assertLess(memory["recommended_request"], BYTES * 1.15 * 1.06)

    def test_the_first_start_takes_history_in_and_the_next_does_not(self):
        with Proxy(self.prometheus.url) as proxy, Daemon(config_of(proxy.url)) as daemon:
            status = wait_for_end(daemon)
            self.assertEqual(status["state"], "finished", status)
            self.assertEqual(status["not_covered"], [])
            self.assertEqual(status["namespaces_done"], 1 + len(MANY))
            # Both resources of a day, and of three hours of each of the many.
            self.assertAlmostEqual(status["minutes"], 2 * 60 * (24 + 3 * len(MANY)), delta=2 * 3 * (1 + len(MANY)))
            self.check_recommendation(daemon)
            metrics = daemon.metrics()
            self.assertEqual(total(metrics, "tidemark_backfill_state", state="finished"), 1)
            self.assertEqual(total(metrics, "tidemark_backfill_progress_ratio"), 1)
            self.assertEqual(total(metrics, "tidemark_backfill_merged_windows_total"), status["minutes"])
            self.assertEqual(total(metrics, "tidemark_backfill_queries_total", result="failed"), 0)
            for text in ("back-fill begins", "back-fill is finished"):
                wait_for(f"the log says: {text}", lambda: any(text in line for line in daemon.log))
            asked = len(proxy.queries)
            for end in (daemon.stop, daemon.kill):
                end()
                daemon.start()
                again = status_of(daemon)
                self.assertEqual((again["state"], again["minutes"]), ("finished", status["minutes"]))
                self.check_recommendation(daemon)
            self.assertEqual(len(proxy.queries), asked)

    def test_kill_9_loses_at_most_the_unit_under_way(self):
        with Proxy(self.prometheus.url) as proxy:
            proxy.held = MANY[-1]  # of the last unit: however slow this test is, the daemon does not get through
            with Daemon(config_of(proxy.url)) as daemon:
                done = wait_for("a unit is merged", lambda: status_of(daemon)["namespaces_done"])
                daemon.kill()
                self.assertLess(done, 1 + len(MANY))
                proxy.queries.clear()
                proxy.let_go()
                daemon.start()
                status = wait_for_end(daemon)
                self.assertEqual(status["state"], "finished", status)
                self.assertEqual(status["namespaces_done"], 1 + len(MANY))
                self.check_recommendation(daemon)
                self.assertLessEqual(len(proxy.namespaces_asked()), 1 + len(MANY) - done)
                # Nothing was merged twice, nothing is missing.
                for team in (MANY[0], MANY[-1], MANY[60]):
                    (cpu,) = recommendations(daemon, team, "cpu")
                    self.assertAlmostEqual(cpu["confidence_days"], 3 / 24, delta=0.01)

    def test_external_labels_make_the_past_that_of_the_live_stream(self):
        with Daemon(config_of(self.prometheus.url, external_labels={"cluster": "eu-1"})) as daemon:
            self.assertEqual(wait_for_end(daemon)["state"], "finished")
            self.check_recommendation(daemon, cluster="eu-1")

    def test_history_ends_where_live_samples_begin(self):
        with Daemon() as daemon:
            labels = {one.name: one for one in SERIES[:1] + SERIES[2:5]}
            for minute in range(10):  # the last ten minutes, live
                when = NOW - (10 - minute) * 60
                body = b"".join(series({"__name__": name, **one.labels}, one.value(when), when * 1000)
                                for name, one in labels.items())
                self.assertEqual(daemon.write(pack(body))[0], 204)
            daemon.wait_for_tick()
            self.assertEqual(len(recommendations(daemon, "shop", "cpu")), 1)
            before = total(daemon.metrics(), "tidemark_engine_usage_windows_total")
            result = tidetool(daemon, f"--prometheus={self.prometheus.url}", "--start=1d")
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
            self.check_recommendation(daemon)
            status = status_of(daemon)
            self.assertLessEqual(status["minutes"] + before,
                                 2 * 60 * (24 + 3 * len(MANY)) + 2 * 3 * (1 + len(MANY)))

    def test_tidetool_follows_and_tells(self):
        with Proxy(self.prometheus.url) as proxy, Daemon() as daemon:
            self.assertEqual(status_of(daemon), {"state": "idle"})
            damaged = (422, b'{"status":"error","errorType":"execution","error":"query processing would load too '
                            b'many samples into memory in query execution"}')
            proxy.instead = lambda path, parameters: damaged if (
                path.endswith("query_range") and "team-007" in parameters["query"]
                and "memory" in parameters["query"]) else None
            result = tidetool(daemon, f"--prometheus={proxy.url}", "--start=6h", "--end=1h", "--step=2m")
            self.assertEqual(result.returncode, 1, result)
            self.assertIn("finished: 121 of 121 namespaces", result.stdout)
            self.assertIn("not covered: container_memory_working_set_bytes of team-007", result.stderr)
            self.assertIn("too many samples", result.stderr)
            daemon.wait_for_tick()
            self.assertEqual(len(recommendations(daemon, "team-007", "cpu")), 1)
            self.assertEqual(recommendations(daemon, "team-007", "memory"), [])
            self.assertEqual(len(recommendations(daemon, "team-008", "memory")), 1)

    def test_tidetool_names_what_is_wrong(self):
        with Daemon() as daemon:
            for arguments, code, text in (
                    (["--prometheus=nowhere"], 2, "http://"),
                    (["--prometheus=http://127.0.0.1:1", "--start=yesterday"], 2, "--start: yesterday is no time"),
                    (["--prometheus=http://127.0.0.1:1", "--step=10m"], 2, "a step of over 5 minutes loses usage"),
                    (["--prometheus=http://127.0.0.1:1", "--start=1h", "--end=2h"], 2, "is not before end"),
                    (["--cancel"], 1, "no back-fill is running"),
                    ([], 2, "url: it is missing"),
                    ([f"--prometheus=http://127.0.0.1:{free_port()}"], 1, "unreachable: Connection refused"),
                    ([f"--prometheus={self.prometheus.url}", "--start=2020-01-01T00:00:00Z",
                      "--end=2020-01-02T00:00:00+01:00"], 1, "missing metrics: container_cpu_usage_seconds_total"),
            ):
                with self.subTest(arguments=arguments):
                    result = tidetool(daemon, *arguments)
                    self.assertEqual(result.returncode, code, result)
                    self.assertIn(text, result.stderr)
        unreachable = subprocess.run([TIDETOOL, "backfill", f"--tidemark=http://127.0.0.1:{free_port()}",
                                      "--prometheus=http://x"], capture_output=True, text=True, timeout=120)
        self.assertEqual(unreachable.returncode, 1)
        self.assertIn("unreachable", unreachable.stderr)

    def test_a_job_is_left_cancelled_and_taken_up(self):
        with Proxy(self.prometheus.url) as proxy, Daemon() as daemon:
            proxy.delay = 30  # it is still under way when it is cancelled, and that does not wait for the server
            follower = subprocess.Popen(
                [TIDETOOL, "backfill", f"--tidemark=http://127.0.0.1:{daemon.port}", f"--prometheus={proxy.url}",
                 "--start=1d"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            wait_for("it runs", lambda: proxy.queries)
            follower.send_signal(signal.SIGINT)
            out, _ = follower.communicate(timeout=120)
            self.assertEqual(follower.returncode, 1)
            self.assertIn("the daemon goes on", out)
            self.assertEqual(status_of(daemon)["state"], "running")
            second = subprocess.Popen(
                [TIDETOOL, "backfill", f"--tidemark=http://127.0.0.1:{daemon.port}", f"--prometheus={proxy.url}"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertIn("a back-fill is running already", second.stdout.readline())
            second.send_signal(signal.SIGINT)
            out, _ = second.communicate(timeout=120)
            self.assertEqual(second.returncode, 1)
            self.assertIn("the daemon goes on", out)
            begin = time.monotonic()
            self.assertEqual(tidetool(daemon, "--cancel").returncode, 0)
            self.assertEqual(wait_for_end(daemon)["state"], "cancelled")
            self.assertLess(time.monotonic() - begin, 20)
            proxy.delay = 0
            again = tidetool(daemon, f"--prometheus={proxy.url}")
            self.assertEqual(again.returncode, 0, again)
            self.check_recommendation(daemon)

    def test_stopping_the_daemon_does_not_wait_for_the_server(self):
        with Proxy(self.prometheus.url) as proxy, Daemon(config_of(proxy.url)) as daemon:
            proxy.delay = 30
            wait_for("a query hangs", lambda: proxy.queries)
            begin = time.monotonic()
            self.assertEqual(daemon.stop(), 0)
            self.assertLess(time.monotonic() - begin, 20)
            proxy.delay = 0
            daemon.start()
            self.assertEqual(wait_for_end(daemon)["state"], "finished")

    def test_the_route_takes_no_forms_and_tells_no_secrets(self):
        token = self.folder / "tokens"
        token.write_text("writers-token\n")
        config = json.dumps({"remote_write": {"bearer_token_file": str(token)}, "backfill": {
            "url": "", "authorization": {"credentials": "hunter2"}}})
        with Daemon(config) as daemon:
            body = json.dumps({"prometheus": "http://127.0.0.1:1", "password": "hunter2", "username": "me"}).encode()
            as_json = [("Content-Type", "application/json")]
            allowed = as_json + [("Authorization", "Bearer writers-token")]
            self.assertEqual(daemon.request("POST", "/api/v1/backfill", as_json, body)[0], 401)
            self.assertEqual(daemon.request("DELETE", "/api/v1/backfill")[0], 401)
            form = [("Content-Type", "application/x-www-form-urlencoded"), allowed[1]]
            self.assertEqual(daemon.request("POST", "/api/v1/backfill", form, body)[0], 415)
            for wrong in (b"", b"[]", b'{"prometheus": 7}', b'{"what": 1}', b'{"tls": {"ca_file": "/etc/passwd"}}',
                          b'{"prometheus": "http://me:hunter2@x"}', b'{"start": -1}'):
                code, _, text = daemon.request("POST", "/api/v1/backfill", allowed, wrong)
                self.assertEqual(code, 400, wrong)
                self.assertNotIn(b"hunter2", text)
            self.assertEqual(daemon.request("POST", "/api/v1/backfill", allowed, body)[0], 202)
            self.assertEqual(daemon.request("POST", "/api/v1/backfill", allowed, body)[0], 409)
            self.assertEqual(daemon.request("DELETE", "/api/v1/backfill", allowed)[0], 200)
            wait_for_end(daemon)
            for path in ("/api/v1/status/config", "/api/v1/status/backfill", "/metrics"):
                self.assertNotIn(b"hunter2", daemon.get(path)[2])
            self.assertNotIn("hunter2", "\n".join(daemon.log))
            self.assertIn(b"<secret>", daemon.get("/api/v1/status/config")[2])


class Kills(unittest.TestCase):
    """Two namespaces alike, but that in one of them a container was killed three hours ago, and an hour ago."""

    REQUEST = 1e9
    KILLED = (NOW - 3 * HOUR + 7, NOW - HOUR + 7)

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-backfill-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        some = []
        for name, killed in (("calm", ()), ("pay", cls.KILLED)):
            some += container(name, "web", "aaaaa", START, NOW, CORES, BYTES)
            some += restarts(name, "web", "aaaaa", START, NOW, 2, cls.REQUEST, killed)
        cls.prometheus = History(cls.folder, some)
        cls.prometheus.start()
        cls.addClassCleanup(cls.prometheus.stop)

    def fill_in(self, daemon, proxy):
        result = tidetool(daemon, f"--prometheus={proxy.url}", "--start=1d")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        daemon.wait_for_tick()
        return {name: recommendations(daemon, name, "memory")[0] for name in ("calm", "pay")}

    def test_kills_of_the_past_raise_the_request(self):
        with Proxy(self.prometheus.url) as proxy, Daemon() as daemon:
            memory = self.fill_in(daemon, proxy)
            self.assertLess(memory["calm"]["recommended_request"], BYTES * 1.15 * 1.06)
            self.assertEqual(memory["calm"].get("kills", 0), 0)
            self.assertGreaterEqual(memory["pay"]["recommended_request"], self.REQUEST * 1.2 * 0.999)
            self.assertEqual(memory["pay"]["kills"], 2)
            self.assertIn("killed for memory 2 times", memory["pay"]["reason"])
            found = json.loads(daemon.get("/api/v1/workloads/pay/deployment/web")[2])["data"]["workloads"][0]
            kills = [each for one in found["containers"][0]["resources"] for each in one.get("kills_counted", ())]
            self.assertEqual([kill["time"][:19] for kill in kills], [
                time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) for at in sorted(self.KILLED, reverse=True)])
            self.assertEqual([kill["request"] for kill in kills], [self.REQUEST] * 2)
            # Where nothing was killed nothing is asked that only kills need.
            asked = [query for query in proxy.queries if "kube_pod_container" in query]
            self.assertTrue(asked)
            self.assertFalse([query for query in asked if "calm" in query])
            self.assertFalse([query for query in proxy.queries if 'resource="cpu"' in query])
            daemon.kill()
            daemon.start()
            daemon.wait_for_tick()
            self.assertEqual(recommendations(daemon, "pay", "memory")[0]["kills"], 2)

    def test_requests_are_asked_for_where_they_are_weights(self):
        with Proxy(self.prometheus.url) as proxy, Daemon("estimation: {preset: oversell}") as daemon:
            memory = self.fill_in(daemon, proxy)
            self.assertEqual(memory["pay"]["kills"], 2)
            weights = [query for query in proxy.queries if 'resource="cpu"' in query]
            self.assertTrue([query for query in weights if "calm" in query])
            found = json.loads(daemon.get("/api/v1/workloads/calm/deployment/web")[2])["data"]["workloads"][0]
            (cpu,) = [one for one in found["containers"][0]["resources"] if one["resource"] == "cpu"]
            # With a request of 2 a minute weighs 2 before it ages, by a half in a day: about a day's worth of 1440.
            self.assertGreater(cpu["histogram"]["total_weight"], 0.5 * 2 * 1440)


if __name__ == "__main__":
    unittest.main(verbosity=2)
