#!/usr/bin/env python3
"""Who may come in: a real Prometheus writes over HTTPS with a password, a token and a client certificate.

Certificates are made here, so that none ends to be valid. Files are changed under the running daemon.

usage: TIDEMARK_BIN=build/release/bin/tidemark access_test.py
"""

import base64
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings

from certificates import Authority, replace
from programs import free_port, wait_for

TIDEMARK = os.environ.get("TIDEMARK_BIN", "build/release/bin/tidemark")
# "correct horse", hashed by bcrypt with cost 10.
PASSWORD = "correct horse"
PASSWORD_HASH = "$2y$10$a.gHQGmGJsetJ/vOswjQle3VjUUsbvHKMRNcg.h2tl4Cxi3AMostK"
BASIC = {"Authorization": "Basic " + base64.b64encode(f"prometheus:{PASSWORD}".encode()).decode()}
WRONG = {"Authorization": "Basic " + base64.b64encode(b"prometheus:wrong").decode()}
TOKEN = "token-of-the-writers"
WRITE = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}
EMPTY_MESSAGE = b"\0"  # snappy: no bytes


class Daemon:
    def __init__(self, folder, web_config, config=None):
        self.folder = pathlib.Path(folder)
        self.web_config = self.folder / "web.yml"
        replace(self.web_config, json.dumps(web_config))  # YAML is a superset
        arguments = [TIDEMARK, "--web.listen-address=127.0.0.1:0", f"--web.config.file={self.web_config}",
                     f"--storage.path={self.folder}/data", "--eval.interval=1s"]
        if config is not None:
            replace(self.folder / "tidemark.yml", json.dumps(config))
            arguments.append(f"--config.file={self.folder}/tidemark.yml")
        self.log_path = self.folder / "tidemark.log"
        with open(self.log_path, "w") as out:
            self.process = subprocess.Popen(arguments, stderr=out)
        self.port = int(wait_for("tidemark listens", lambda: re.search(
            r"msg=listening address=127\.0\.0\.1:(\d+)", self.log())).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def log(self):
        return self.log_path.read_text()


class Access(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tidemark-access-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.authority = Authority(self.path, "servers")
        self.serve(*self.authority.issue("first", "IP:127.0.0.1"))

    def serve(self, certificate, key):
        replace(self.path / "tls.crt", pathlib.Path(certificate).read_text())
        replace(self.path / "tls.key", pathlib.Path(key).read_text())

    def tls(self, **more):
        # Relative: as seen from the web configuration.
        return {"cert_file": "tls.crt", "key_file": "tls.key", **more}

    def context(self, client=None):
        context = ssl.create_default_context(cafile=self.authority.certificate)
        if client:
            context.load_cert_chain(*client)
        return context

    def connect(self, daemon, client=None):
        connection = http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=60, context=self.context(client))
        self.addCleanup(connection.close)
        return connection

    @staticmethod
    def ask(connection, method="GET", path="/-/healthy", headers=None, body=None):
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, answer, text

    def metric(self, daemon, name, headers=BASIC, client=None):
        status, _, text = self.ask(self.connect(daemon, client), path="/metrics", headers=headers)
        self.assertEqual(status, 200)
        found = re.search(rf"^{name} (\S+)$", text.decode(), re.MULTILINE)
        return float(found.group(1)) if found else None

    def prometheus(self, daemon, http_config):
        """Starts a Prometheus that scrapes itself and writes to the daemon."""
        address = f"127.0.0.1:{free_port()}"
        name = "prometheus-" + hashlib.sha256(json.dumps(http_config).encode()).hexdigest()[:8]
        config = self.path / f"{name}.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "self", "static_configs": [{"targets": [address]}]}],
            "remote_write": [{"url": f"https://127.0.0.1:{daemon.port}/api/v1/write",
                              "queue_config": {"batch_send_deadline": "1s"}, **http_config}]}))
        log = open(self.path / f"{name}.log", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--web.listen-address={address}",
             f"--storage.tsdb.path={self.path / name}"], stderr=log, stdout=log)

        def stop():  # asked politely it would try to send the rest for a minute
            process.kill()
            process.wait()

        self.addCleanup(stop)
        return self.path / f"{name}.log"

    def written(self, daemon, headers=None, client=None):
        """Write requests answered 204 so far."""
        return self.metric(daemon, r'tidemark_remote_write_requests_total\{version="1\.0",code="204"\}', headers, client)

    def test_prometheus_writes_with_a_password(self):
        users = {"basic_auth_users": {"prometheus": PASSWORD_HASH}}
        tls_config = {"ca_file": self.authority.certificate}
        with Daemon(self.path, {"tls_server_config": self.tls(), **users}) as daemon:
            bad = self.prometheus(daemon, {"tls_config": tls_config,
                                           "basic_auth": {"username": "prometheus", "password": "wrong"}})
            wait_for("a refusal in Prometheus' log", lambda: "401" in bad.read_text())
            self.assertEqual(self.written(daemon, BASIC), 0)
            self.prometheus(daemon, {"tls_config": tls_config,
                                     "basic_auth": {"username": "prometheus", "password": PASSWORD}})
            wait_for("writes", lambda: self.written(daemon, BASIC) >= 3)
            # Each password is hashed once: Prometheus' two, however many requests there were.
            self.assertLessEqual(self.metric(daemon, "tidemark_http_password_checks_total"), 2)
            for path in ("/metrics", "/-/healthy", "/-/ready", "/", "/api/v1/recommendations", "/nowhere"):
                for headers in ({}, WRONG):
                    status, answer, _ = self.ask(self.connect(daemon), path=path, headers=headers)
                    self.assertEqual((path, status, answer.getheader("WWW-Authenticate")), (path, 401, "Basic"))

    def test_prometheus_writes_with_a_token(self):
        replace(self.path / "tokens", f"# of the writers\n{TOKEN}\n")
        config = {"remote_write": {"bearer_token_file": "tokens"}}
        tls_config = {"ca_file": self.authority.certificate}
        with Daemon(self.path, {"tls_server_config": self.tls()}, config) as daemon:
            bad = self.prometheus(daemon, {"tls_config": tls_config, "authorization": {"credentials": "wrong"}})
            wait_for("a refusal in Prometheus' log", lambda: "401" in bad.read_text())
            self.assertEqual(self.written(daemon), 0)
            self.prometheus(daemon, {"tls_config": tls_config, "authorization": {"credentials": TOKEN}})
            wait_for("writes", lambda: self.written(daemon) >= 3)

            status, answer, _ = self.ask(self.connect(daemon), "POST", "/api/v1/write", WRITE, EMPTY_MESSAGE)
            self.assertEqual((status, answer.getheader("WWW-Authenticate")), (401, "Bearer"))
            _, _, text = self.ask(self.connect(daemon), path="/api/v1/status/config")
            self.assertIn(str(self.path / "tokens"), json.loads(text)["data"]["yaml"])
            self.assertNotIn(TOKEN, text.decode())

            # The file changes: no restart.
            write = {**WRITE, "Authorization": "Bearer next"}
            connection = self.connect(daemon)
            self.assertEqual(self.ask(connection, "POST", "/api/v1/write", write, EMPTY_MESSAGE)[0], 401)
            replace(self.path / "tokens", "next\n")
            wait_for("the new token", lambda: self.ask(
                self.connect(daemon), "POST", "/api/v1/write", write, EMPTY_MESSAGE)[0] == 204)
            self.assertNotIn(TOKEN, daemon.log())

    def test_prometheus_writes_with_a_client_certificate(self):
        clients = Authority(self.path, "clients")
        good = clients.issue("prometheus", "DNS:prometheus,URI:spiffe://example.org/prometheus")
        unnamed = clients.issue("prometheus", "DNS:grafana")
        stranger = Authority(self.path, "strangers").issue("prometheus", "DNS:prometheus")
        tls = self.tls(client_auth_type="RequireAndVerifyClientCert", client_ca_file=clients.certificate,
                       client_allowed_sans=["spiffe://example.org/prometheus"])
        with Daemon(self.path, {"tls_server_config": tls}) as daemon:
            for bad in (None, unnamed, stranger):
                with self.assertRaises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
                    self.ask(self.connect(daemon, bad))
            self.prometheus(daemon, {"tls_config": {
                "ca_file": self.authority.certificate, "cert_file": good[0], "key_file": good[1]}})
            wait_for("writes", lambda: self.written(daemon, {}, good) >= 3)
            wait_for("all three are counted", lambda: self.metric(
                daemon, "tidemark_http_tls_handshakes_failed_total", {}, good) >= 3)

    def served(self, daemon):
        with socket.create_connection(("127.0.0.1", daemon.port), 60) as plain:
            with self.context().wrap_socket(plain, server_hostname="127.0.0.1") as secure:
                return secure.getpeercert()["subject"][0][0][1]

    def test_a_replaced_certificate_is_served_while_connections_go_on(self):
        with Daemon(self.path, {"tls_server_config": self.tls()}) as daemon:
            old = self.connect(daemon)
            self.assertEqual(self.ask(old)[0], 200)
            kept = old.sock
            self.assertEqual(self.served(daemon), "first")
            expiry = "tidemark_web_certificate_expiry_timestamp_seconds"
            good = "tidemark_web_config_last_reload_successful"
            first_expiry = self.metric(daemon, expiry, {})
            self.assertAlmostEqual(first_expiry, time.time() + 2 * 86400, delta=3600)

            # A broken one first: what was served is served.
            replace(self.path / "tls.crt", "broken")
            wait_for("the failure in the metrics", lambda: self.metric(daemon, good, {}) == 0)
            self.assertEqual(self.served(daemon), "first")
            wait_for("the log says so", lambda: "web configuration is not good" in daemon.log())

            self.serve(*self.authority.issue("second", "IP:127.0.0.1", days=9))
            wait_for("the new certificate", lambda: self.served(daemon) == "second")
            self.assertEqual(self.metric(daemon, good, {}), 1)
            self.assertAlmostEqual(self.metric(daemon, expiry, {}) - first_expiry, 7 * 86400, delta=3600)
            self.assertAlmostEqual(self.metric(
                daemon, "tidemark_web_config_last_reload_success_timestamp_seconds", {}), time.time(), delta=120)
            self.assertEqual(self.ask(old)[0], 200)
            self.assertIs(old.sock, kept)

    def test_users_headers_and_signals(self):
        web = {"tls_server_config": self.tls(), "basic_auth_users": {"prometheus": PASSWORD_HASH},
               "http_server_config": {"headers": {"X-Frame-Options": "deny",
                                                  "Strict-Transport-Security": "max-age=31536000"}}}
        with Daemon(self.path, web) as daemon:
            for headers, expected in ((BASIC, 200), ({}, 401)):
                status, answer, _ = self.ask(self.connect(daemon), headers=headers)
                self.assertEqual(status, expected)
                self.assertEqual(answer.getheader("X-Frame-Options"), "deny")
                self.assertEqual(answer.getheader("Strict-Transport-Security"), "max-age=31536000")
            del web["basic_auth_users"]
            replace(daemon.web_config, json.dumps(web))
            daemon.process.send_signal(signal.SIGHUP)
            wait_for("the open door", lambda: self.ask(self.connect(daemon))[0] == 200)
            replace(daemon.web_config, "junk")
            daemon.process.send_signal(signal.SIGHUP)
            good = "tidemark_web_config_last_reload_successful"
            wait_for("the failure in the metrics", lambda: self.metric(daemon, good, {}) == 0)
            self.assertIsNone(daemon.process.poll())

    def test_old_tls_slow_and_garbage_handshakes(self):
        with Daemon(self.path, {"tls_server_config": self.tls(min_version="TLS12")}) as daemon:
            old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
            old.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # that they are old is the point
                old.minimum_version = ssl.TLSVersion.TLSv1
                old.maximum_version = ssl.TLSVersion.TLSv1_1
            with socket.create_connection(("127.0.0.1", daemon.port), 60) as plain:
                with self.assertRaisesRegex(ssl.SSLError, "protocol version|PROTOCOL_VERSION"):
                    old.wrap_socket(plain)
            slow = socket.create_connection(("127.0.0.1", daemon.port), 60)
            self.addCleanup(slow.close)
            slow.sendall(b"\x16\x03\x01\x02\x00\x01")
            for garbage in (b"\x16\x03\x01\xff\xff" + b"x" * 100, b"\0" * 1000, b"\x80\x2e\x01", os.urandom(5000)):
                with socket.create_connection(("127.0.0.1", daemon.port), 60) as plain:
                    plain.sendall(b"\x16" + garbage)
            plain = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
            self.addCleanup(plain.close)
            status, _, text = self.ask(plain)
            self.assertEqual((status, text), (400, b"client sent an HTTP request to an HTTPS server\n"))
            self.assertEqual(self.ask(self.connect(daemon))[0], 200)
            started = time.monotonic()
            slow.settimeout(60)
            try:
                slow.recv(1)
            except ConnectionError:
                pass
            # A handshake has ten seconds; the rest is for a busy machine.
            self.assertLess(time.monotonic() - started, 40)
            wait_for("all are counted", lambda: self.metric(daemon, "tidemark_http_tls_handshakes_failed_total", {}) >= 7)
            self.assertEqual(daemon.log().count("TLS handshake failed"), 1)

    def test_a_flood_of_wrong_passwords_does_not_hold_up_who_is_known(self):
        web = {"tls_server_config": self.tls(), "basic_auth_users": {"prometheus": PASSWORD_HASH}}
        with Daemon(self.path, web) as daemon:
            writer = self.connect(daemon)
            self.assertEqual(self.ask(writer, headers=BASIC)[0], 200)
            flood = []
            for i in range(150):
                wrong = base64.b64encode(f"prometheus:{i}".encode()).decode()
                connection = self.connect(daemon)
                connection.request("GET", "/-/healthy", headers={"Authorization": "Basic " + wrong})
                flood.append(connection)
            slowest = 0
            for _ in range(50):
                started = time.monotonic()
                self.assertEqual(self.ask(writer, headers=BASIC)[0], 200)
                slowest = max(slowest, time.monotonic() - started)
            self.assertLess(slowest, 2)
            statuses = set()
            for connection in flood:
                answer = connection.getresponse()
                answer.read()
                statuses.add(answer.status)
            self.assertEqual(statuses - {401, 503}, set())
            self.assertIn(401, statuses)

    def test_a_wrong_web_configuration_ends_the_start_with_2(self):
        for web, reason in (("junk", "web.yml:1:"), (json.dumps({"tls_server_config": {"cert_file": "tls.crt"}}), "missing one of key"),
                            (json.dumps({"tls_server_config": self.tls(cert_file="none")}), "none"), (None, "No such file")):
            path = self.path / "web.yml"
            path.unlink(missing_ok=True)
            if web is not None:
                path.write_text(web)
            done = subprocess.run([TIDEMARK, "--web.listen-address=127.0.0.1:0", f"--web.config.file={path}"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(reason, done.stderr.splitlines()[-1])

    def test_passwords_over_plain_http_are_warned_of(self):
        path = self.path / "web.yml"
        path.write_text(json.dumps({"basic_auth_users": {"prometheus": PASSWORD_HASH}}))
        for address, warned in (("127.0.0.1:0", False), ("0.0.0.0:0", True)):
            log = self.path / "plain.log"
            with open(log, "w") as out:
                process = subprocess.Popen([TIDEMARK, f"--web.listen-address={address}", f"--web.config.file={path}"], stderr=out)
            wait_for("tidemark listens", lambda: "msg=listening" in log.read_text())
            process.terminate()
            self.assertEqual(process.wait(60), 0)
            self.assertEqual("passwords and tokens travel readable" in log.read_text(), warned)


if __name__ == "__main__":
    unittest.main(verbosity=2)
