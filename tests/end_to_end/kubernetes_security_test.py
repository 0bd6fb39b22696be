#!/usr/bin/env python3
"""Who may ask on the Kubernetes port, and what becomes of those who are rude to it.

Certificates are made here by openssl. CAs and the served certificate are replaced under load.

usage: TIDEMARK_BIN=build/release/bin/tidemark kubernetes_security_test.py
"""

import http.client
import json
import os
import pathlib
import socket
import ssl
import tempfile
import threading
import time
import unittest
import warnings

from certificates import Authority, replace
from kubernetes_port import HPA, SERVICE, VERSION, Certificates, KubernetesDaemon
from programs import ANSWER_SECONDS, total, wait_for

DISCOVERY = VERSION
ALICE = {"X-Remote-User": "alice", "X-Remote-Group": "system:masters"}


class Port(unittest.TestCase):
    """What the tests share: connections to a daemon's Kubernetes port, and what every answer must be."""

    def context(self, pair=None):
        return self.certificates.context(*(pair or (None, None)))

    def connect(self, pair=None):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS, context=self.context(pair))
        self.addCleanup(connection.close)
        return connection

    def ask(self, pair=None, headers=None, path=DISCOVERY, connection=None, method="GET", body=None):
        """The status; on a connection of its own unless one is given."""
        connection = connection or self.connect(pair)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read()
        self.check(answer.status, answer.headers, text)
        return answer.status, text.decode()

    def check(self, status, headers, text):
        """Never Retry-After (client-go would come back ten times within one call), and errors are a Status."""
        self.assertIsNone(headers.get("Retry-After"))
        if status >= 400:
            self.assertEqual(headers.get_content_type(), "application/json")
            error = json.loads(text)
            self.assertEqual((error["kind"], error["status"], error["code"]), ("Status", "Failure", status))
            self.assertTrue(error["message"])

    def raw(self, pair=None):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)
        connection = self.context(pair).wrap_socket(plain, server_hostname=SERVICE)
        self.addCleanup(connection.close)
        return connection

    def read_answer(self, connection):
        """(status, headers, text) of what was sent by hand, and whether the server then closed."""
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        text = answer.read()
        self.check(answer.status, answer.headers, text)
        return answer.status, answer.headers, text

    def is_closed(self, connection):
        try:
            return connection.recv(1) == b""
        except (ssl.SSLError, ConnectionError):
            return True


class Callers(Port):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-security-")
        cls.addClassCleanup(folder.cleanup)
        cls.certificates = Certificates(folder.name)
        cls.stranger = Authority(folder.name, "stranger")
        cls.daemon = KubernetesDaemon(cls.certificates)
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.__enter__()
        cls.port = cls.daemon.kubernetes_port()

    def denials(self, reason):
        return total(self.daemon.metrics(), "tidemark_kubernetes_requests_denied_total", reason=reason)

    def refused(self, pair, headers, said, path=DISCOVERY):
        status, text = self.ask(pair, headers, path)
        self.assertEqual(status, 401, text)
        self.assertEqual(json.loads(text)["reason"], "Unauthorized")
        self.assertIn(said, json.loads(text)["message"])

    def test_a_front_proxy_and_a_client_of_the_client_ca_are_let_in(self):
        self.assertEqual(self.ask(self.certificates.front_proxy, ALICE)[0], 200)
        self.assertEqual(self.ask(self.certificates.client)[0], 200)

    def test_no_certificate(self):
        self.refused(None, None, "no client certificate")
        self.refused(None, ALICE, "no client certificate")
        for path in (VERSION + "/namespaces/shop/tidemark_target_replicas", "/apis", "/apis/external.metrics.k8s.io"):
            with self.subTest(path):
                self.refused(None, ALICE, "no client certificate", path)

    def test_who_is_refused_is_counted_by_why(self):
        ca = self.certificates.front_proxy_ca
        for reason, pair, headers in (
                ("no_certificate", None, ALICE),
                ("unknown_authority", self.stranger.issue("front-proxy-client", usage="clientAuth"), ALICE),
                ("name_not_allowed", ca.issue("somebody", usage="clientAuth"), ALICE),
                ("no_user", self.certificates.front_proxy, {})):
            with self.subTest(reason):
                before = self.denials(reason)
                self.assertEqual(self.ask(pair, headers)[0], 401)
                self.assertEqual(self.denials(reason), before + 1)

    def test_wrong_ca(self):
        self.refused(self.stranger.issue("front-proxy-client", usage="clientAuth"), ALICE, "no authority")

    def test_a_ca_of_the_same_name_is_another_ca(self):
        with tempfile.TemporaryDirectory() as folder:
            forged = Authority(folder, "front-proxy-ca")
            self.refused(forged.issue("front-proxy-client", usage="clientAuth"), ALICE, "no authority")

    def test_wrong_common_name(self):
        self.refused(self.certificates.front_proxy_ca.issue("somebody", usage="clientAuth"), ALICE, '"somebody"')

    def test_a_certificate_for_servers_only(self):
        self.refused(self.certificates.front_proxy_ca.issue("front-proxy-client", usage="serverAuth"), ALICE,
                     "not for client authentication")

    def test_expired_and_not_yet_valid(self):
        now = int(time.time())
        ca = self.certificates.front_proxy_ca
        self.refused(ca.issue("front-proxy-client", usage="clientAuth", valid=(now - 7200, now - 3600)), ALICE, "expired on")
        self.refused(ca.issue("front-proxy-client", usage="clientAuth", valid=(now + 3600, now + 7200)), ALICE,
                     "not valid before")
        self.refused(self.certificates.client_ca.issue("alice", usage="clientAuth", valid=(now - 7200, now - 3600)), {},
                     "expired on")

    def test_a_certificate_that_expires_on_an_open_connection(self):
        until = int(time.time()) + 15  # the first request must get there before
        pair = self.certificates.front_proxy_ca.issue("front-proxy-client", usage="clientAuth", valid=(until - 3600, until))
        connection = self.connect(pair)
        self.assertEqual(self.ask(headers=ALICE, connection=connection)[0], 200)
        connection.auto_open = 0  # the same connection to the end
        wait_for("the end of the certificate", lambda: self.ask(headers=ALICE, connection=connection)[0] == 401)
        self.assertGreaterEqual(time.time(), until)
        self.assertEqual(self.ask(self.certificates.front_proxy, ALICE)[0], 200)

    def test_headers_of_anybody_but_a_front_proxy_mean_nothing(self):
        # A client of its own is let in as itself, with and without them: even one that says that it is nobody.
        for headers in ({}, ALICE, {"X-Remote-User": ""}, {"X-Remote-Group": "system:masters"}):
            with self.subTest(headers=headers):
                self.assertEqual(self.ask(self.certificates.client, headers)[0], 200)
        # One with a front proxy's name, too; the name alone makes none.
        client_ca = self.certificates.client_ca
        self.assertEqual(self.ask(client_ca.issue("front-proxy-client", usage="clientAuth"), ALICE)[0], 200)
        # One whose certificate names nobody is nobody, whatever the headers say.
        self.refused(client_ca.issue("", organisations=("system:masters",), usage="clientAuth"), ALICE, "common name is empty")
        # After a front proxy's request the next connection starts anew.
        self.assertEqual(self.ask(self.certificates.front_proxy, ALICE)[0], 200)
        self.refused(None, ALICE, "no client certificate")

    def test_a_front_proxy_that_names_nobody(self):
        for headers in ({}, {"X-Remote-User": ""}, {"X-Remote-Group": "system:masters"}, {"X-Remote-Users": "alice"}):
            with self.subTest(headers=headers):
                self.refused(self.certificates.front_proxy, headers, "names no user")
        self.assertEqual(self.ask(self.certificates.front_proxy, {"x-remote-user": HPA})[0], 200)

    def test_tls_below_1_2_is_refused_and_above_is_not(self):
        for version, answered in ((ssl.TLSVersion.TLSv1, False), (ssl.TLSVersion.TLSv1_1, False),
                                  (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)):
            with self.subTest(version=version):
                context = self.context(self.certificates.front_proxy)
                context.set_ciphers("ALL:@SECLEVEL=0")  # the client's own caution is not what is tested
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)
                    context.minimum_version = ssl.TLSVersion.TLSv1
                    context.maximum_version = version
                plain = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)
                with plain:
                    if answered:
                        with context.wrap_socket(plain, server_hostname=SERVICE) as connection:
                            self.assertEqual(connection.version(), version.name.replace("_", "."))
                    else:
                        with self.assertRaises(ssl.SSLError) as refused:
                            context.wrap_socket(plain, server_hostname=SERVICE)
                        self.assertEqual(refused.exception.reason, "TLSV1_ALERT_PROTOCOL_VERSION")

    def test_http_2_is_not_agreed_on(self):
        context = self.context(self.certificates.front_proxy)
        context.set_alpn_protocols(["h2", "http/1.1"])  # as Go offers them
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)
        with context.wrap_socket(plain, server_hostname=SERVICE) as connection:
            self.assertEqual(connection.selected_alpn_protocol(), "http/1.1")

    def test_plain_http_is_told_so(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS) as plain:
            plain.sendall(b"GET /apis HTTP/1.1\r\nHost: it\r\n\r\n")
            self.assertEqual(self.read_answer(plain)[0], 400)

    def test_sixty_kib_of_headers_are_taken_and_seventy_are_a_status(self):
        groups = {f"X-Remote-Extra-{i}": "g" * 1000 for i in range(60)}
        self.assertEqual(self.ask(self.certificates.front_proxy, {**ALICE, **groups})[0], 200)
        self.assertEqual(self.ask(self.certificates.front_proxy, {**ALICE, "X-Remote-Group": "g" * 60 * 1024})[0], 200)
        connection = self.raw(self.certificates.front_proxy)
        connection.sendall(b"GET /apis HTTP/1.1\r\nHost: it\r\nX-Remote-User: alice\r\nX-Remote-Group: " + b"g" * 70 * 1024)
        self.assertEqual(self.read_answer(connection)[0], 431)

    def test_http_1_0(self):
        connection = self.raw(self.certificates.front_proxy)
        connection.sendall(f"GET {DISCOVERY} HTTP/1.0\r\nX-Remote-User: alice\r\n\r\n".encode())
        status, headers, text = self.read_answer(connection)
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(text)["kind"], "APIResourceList")
        self.assertIsNone(headers.get("Transfer-Encoding"))
        self.assertTrue(self.is_closed(connection))

    def test_requests_in_a_row_are_answered_in_order(self):
        connection = self.raw(self.certificates.front_proxy)
        head = "Host: it\r\nX-Remote-User: alice\r\n\r\n"
        connection.sendall((f"GET {DISCOVERY} HTTP/1.1\r\n{head}" f"GET /nowhere HTTP/1.1\r\n{head}"
                            f"GET {DISCOVERY} HTTP/1.1\r\nHost: it\r\nConnection: close\r\n\r\n").encode())
        # http.client reads ahead on each answer: the bytes are taken apart here.
        received = b""
        while True:
            some = connection.recv(65536)
            if not some:
                break
            received += some
        codes = [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]
        # The third one names nobody: what was said before on the connection does not count.
        self.assertEqual(codes, [200, 404, 401])
        self.assertNotIn(b"retry-after", received.lower())

    def test_slow_clients_are_ended(self):
        # All at a time: they wait for their deadlines side by side.
        silent = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)
        self.addCleanup(silent.close)
        quiet = self.raw(self.certificates.front_proxy)
        slow = self.raw(self.certificates.front_proxy)
        slow.settimeout(0.2)
        began = time.monotonic()
        received = b""
        slow.sendall(b"GET /apis HTTP/1.1\r\nHost: it\r\nX: ")
        while b"\r\n\r\n" not in received:
            self.assertLess(time.monotonic() - began, ANSWER_SECONDS)
            try:
                slow.sendall(b"x")
                some = slow.recv(65536)
                if not some:
                    break
                received += some
            except TimeoutError:
                pass
        self.assertTrue(received.startswith(b"HTTP/1.1 408 "), received)
        self.assertIn(b'"kind":"Status"', received)
        self.assertNotIn(b"retry-after", received.lower())
        for connection in (silent, quiet):
            self.assertTrue(self.is_closed(connection))
        self.assertEqual(self.ask(self.certificates.front_proxy, ALICE)[0], 200)

    def test_errors_of_the_port_are_a_status(self):
        for method, path, status in (("GET", "/nowhere", 404), ("DELETE", DISCOVERY, 405), ("POST", "/apis", 405)):
            with self.subTest(method=method, path=path):
                self.assertEqual(self.ask(self.certificates.front_proxy, ALICE, path, method=method)[0], status)
        for bytes_sent in (b"no request\r\n\r\n", b"GET /apis HTTP/1.1\r\n\r\n", b"GET /%zz HTTP/1.1\r\nHost: it\r\n\r\n",
                           b"GET /apis HTTP/1.1\r\nHost: it\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"):
            with self.subTest(bytes_sent):
                connection = self.raw(self.certificates.front_proxy)
                connection.sendall(bytes_sent)
                self.assertEqual(self.read_answer(connection)[0], 400)


class Asker(threading.Thread):
    """Asks again and again, on one connection or on one each, and keeps what it got, in order, without repetitions."""

    def __init__(self, case, name, pair, keep_alive):
        super().__init__(name=f"{name}, {'one connection' if keep_alive else 'a connection each'}", daemon=True)
        self.case = case
        self.context = case.context(pair)
        self.keep_alive = keep_alive
        self.seen = []
        self.asked = 0
        self.stopping = threading.Event()

    def run(self):
        connection = None
        while not self.stopping.is_set():
            try:
                if connection is None:
                    connection = http.client.HTTPSConnection("127.0.0.1", self.case.port, timeout=ANSWER_SECONDS,
                                                             context=self.context)
                    connection.connect()
                    connection.auto_open = 0
                connection.request("GET", DISCOVERY, headers=ALICE)
                answer = connection.getresponse()
                answer.read()
                got = answer.status if answer.headers.get("Retry-After") is None else "Retry-After"
                if not self.keep_alive:
                    connection.close()
                    connection = None
            except (OSError, http.client.HTTPException) as error:
                got, connection = repr(error), None
            if not self.seen or self.seen[-1] != got:
                self.seen.append(got)
            self.asked += 1
        if connection:
            connection.close()


class Rotation(Port):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-rotation-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.certificates = Certificates(self.folder)
        self.given_flags = self.certificates.flags()
        self.old_ca = self.certificates.front_proxy_ca
        self.old = self.certificates.front_proxy
        (self.folder / "next").mkdir()
        # As kubeadm makes it: the same name.
        self.next_ca = Authority(self.folder / "next", "front-proxy-ca")
        self.next = self.next_ca.issue("front-proxy-client", usage="clientAuth")
        # Kubernetes mounts a secret as links through ..data, which is replaced as a whole.
        self.secret = self.folder / "secret"
        self.secret.mkdir()
        self.mount(self.certificates.serving)
        for name in ("tls.crt", "tls.key"):
            os.symlink(f"..data/{name}", self.secret / name)
        self.ca_file = self.folder / "requestheader.crt"
        self.trust(self.old_ca)

    def flags(self):
        """Those of the certificates, with files that the test replaces."""
        replaced = {"tls-cert-file": self.secret / "tls.crt", "tls-private-key-file": self.secret / "tls.key",
                    "requestheader-client-ca-file": self.ca_file}
        kept = [flag for flag in self.given_flags if flag.split("=")[0].removeprefix("--kubernetes.") not in replaced]
        return kept + [f"--kubernetes.{name}={path}" for name, path in replaced.items()]

    def mount(self, pair):
        version = self.secret / f"..{time.monotonic_ns()}"
        version.mkdir()
        for name, path in zip(("tls.crt", "tls.key"), pair):
            (version / name).write_text(pathlib.Path(path).read_text())
        os.symlink(version.name, self.secret / "..data_tmp")
        os.rename(self.secret / "..data_tmp", self.secret / "..data")

    def trust(self, *authorities):
        replace(self.ca_file, "".join(pathlib.Path(one.certificate).read_text() for one in authorities))

    def served(self):
        """The certificate that a new connection is shown."""
        with self.raw(self.next) as connection:
            return connection.getpeercert(binary_form=True)

    def status_of(self, pair):
        return self.ask(pair, ALICE)[0]

    def test_cas_and_the_served_certificate_are_replaced_under_load(self):
        certificates = self.certificates
        certificates.flags = self.flags
        serving_next = certificates.serving_ca.issue("tidemark", f"DNS:{SERVICE},DNS:localhost,IP:127.0.0.1", days=9)
        with KubernetesDaemon(certificates) as daemon:
            self.port = daemon.kubernetes_port()
            askers = [Asker(self, name, pair, keep_alive) for keep_alive in (True, False)
                      for name, pair in (("old", self.old), ("next", self.next), ("client", certificates.client))]
            for asker in askers:
                asker.start()

            def all_asked():
                """Each has asked again, and been answered, since now."""
                before = [asker.asked for asker in askers]
                wait_for("requests", lambda: all(asker.asked > asked + 1 for asker, asked in zip(askers, before)))

            all_asked()
            self.trust(self.old_ca, self.next_ca)
            wait_for("the next CA beside the old one", lambda: self.status_of(self.next) == 200)
            self.assertEqual(self.status_of(self.old), 200)
            all_asked()

            def metric(name):
                return total(daemon.metrics(), "tidemark_kubernetes_" + name)

            first = self.served()
            expiry = metric("certificate_expiry_timestamp_seconds")
            self.assertEqual(metric("certificate_good"), 1)
            self.mount((serving_next[0], certificates.serving[1]))  # half of it: stays as it was
            wait_for("a word about the mismatch", lambda: any("does not belong" in line for line in daemon.log))
            self.assertEqual(self.served(), first)
            self.assertEqual(metric("certificate_good"), 0)
            self.mount(serving_next)
            wait_for("the next certificate", lambda: self.served() != first)
            self.assertEqual(self.served(), ssl.PEM_cert_to_DER_cert(pathlib.Path(serving_next[0]).read_text()))
            self.assertEqual(metric("certificate_good"), 1)
            self.assertAlmostEqual(metric("certificate_expiry_timestamp_seconds") - expiry, 7 * 86400, delta=3600)
            all_asked()

            replace(self.ca_file, "no certificate\n")
            wait_for("a word about the CA", lambda: any("not good" in line and str(self.ca_file) in line for line in daemon.log))
            self.assertEqual((self.status_of(self.old), self.status_of(self.next)), (200, 200))
            self.assertEqual(metric("authentication_good"), 0)
            self.trust(self.next_ca)
            wait_for("the end of the old CA", lambda: self.status_of(self.old) == 401)
            self.assertEqual(self.status_of(self.next), 200)
            all_asked()
            self.assertEqual(metric("authentication_good"), 1)

            for asker in askers:
                asker.stopping.set()
            for asker in askers:
                asker.join(ANSWER_SECONDS)
        for asker in askers:
            expected = {"old": [200, 401], "next": [401, 200], "client": [200]}[asker.name.split(",")[0]]
            with self.subTest(asker.name, asked=asker.asked):
                self.assertEqual(asker.seen, expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
