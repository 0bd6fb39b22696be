#!/usr/bin/env python3
"""A Tidemark that runs as in a pod: with a service account's folder where the kubelet puts it, it learns from the cluster who
front proxies are, and goes on learning it.

The folder is there for the daemon alone, in a mount namespace of its own; where none can be made the test is skipped.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool in_cluster_test.py
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import programs
from certificates import Authority, replace
from fake_kubernetes import CONFIG_MAP, FakeKubernetes
from kubernetes_port import VERSION, Certificates, KubernetesDaemon
from programs import wait_for

TIDETOOL = os.path.abspath(os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool"))
TIDEMARK = os.path.abspath(programs.BINARY)
# /var/run is a link to /run on many systems, and a folder of its own on others.
AS_IN_A_POD = """#!/bin/sh
exec unshare {how} -m sh -c '
  mount -t tmpfs tmpfs "$(readlink -f /var/run)" &&
  mkdir -p /var/run/secrets/kubernetes.io &&
  ln -s "{account}" /var/run/secrets/kubernetes.io/serviceaccount &&
  exec "$0" "$@"' "{program}" "$@"
"""


def read(path):
    return pathlib.Path(path).read_text()


class InClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-in-cluster-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.how = next((how for how in ("", "-r") if subprocess.run(
            f"unshare {how} -m mount -t tmpfs tmpfs /mnt", shell=True, capture_output=True).returncode == 0), None)
        if cls.how is None:
            raise unittest.SkipTest("no mount namespace can be made here")

    def setUp(self):
        self.certificates = Certificates(self.folder)
        self.cluster = FakeKubernetes(self.folder, self.certificates.front_proxy, token="the-first-token")
        self.addCleanup(self.cluster.close)
        self.account = self.folder / "account"
        self.account.mkdir(exist_ok=True)
        replace(self.account / "token", "the-first-token")
        replace(self.account / "ca.crt", read(self.cluster.authority.certificate))
        replace(self.account / "namespace", "tidemark")
        self.trust(self.certificates.front_proxy_ca)

    def trust(self, *authorities):
        self.cluster.objects[CONFIG_MAP] = {"data": {
            "requestheader-client-ca-file": "".join(read(authority.certificate) for authority in authorities),
            "requestheader-allowed-names": '["front-proxy-client"]',
            "requestheader-username-headers": '["X-Remote-User"]',
            "requestheader-group-headers": '["X-Remote-Group"]',
            "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]'}}

    def as_in_a_pod(self, program):
        path = self.folder / (pathlib.Path(program).name + "-in-a-pod")
        path.write_text(AS_IN_A_POD.format(how=self.how, account=self.account, program=program))
        path.chmod(0o755)
        return str(path)

    def start(self):
        certificate, key = self.certificates.serving
        daemon = KubernetesDaemon(self.certificates)
        # Nothing says who front proxies are: the cluster is asked.
        daemon.flags = ["--kubernetes.listen-address=127.0.0.1:0", f"--kubernetes.tls-cert-file={certificate}",
                        f"--kubernetes.tls-private-key-file={key}"]
        port = self.cluster.url.rsplit(":", 1)[1]
        before = programs.BINARY, dict(os.environ)
        programs.BINARY = self.as_in_a_pod(TIDEMARK)
        os.environ.update(KUBERNETES_SERVICE_HOST="127.0.0.1", KUBERNETES_SERVICE_PORT=port)
        try:
            daemon.__enter__()
        finally:
            programs.BINARY = before[0]
            os.environ.clear()
            os.environ.update(before[1])
        self.addCleanup(daemon.__exit__)
        return daemon

    def status(self, daemon):
        return daemon.ask(VERSION)[0]

    def reads(self):
        return sum(1 for _, path, _ in self.cluster.requests if path == CONFIG_MAP)

    def test_front_proxies_are_those_that_the_cluster_names(self):
        daemon = self.start()
        wait_for("the front proxy is let in", lambda: self.status(daemon) == 200)
        self.assertEqual(daemon.ask(VERSION, certificate=None)[0], 401)
        self.assertEqual(daemon.ask(VERSION, certificate="client")[0], 401)
        self.assertTrue(any(re.fullmatch(r"tidemark/\d+\.\d+\.\d+", agent or "") for _, _, agent in self.cluster.requests))
        begin = time.monotonic()
        self.assertEqual(daemon.stop(), 0)
        self.assertLess(time.monotonic() - begin, 20)

    def test_it_starts_without_permission_and_goes_on_when_it_gets_it(self):
        self.cluster.forbidden = re.compile("configmaps")
        daemon = self.start()
        wait_for("what is missing is logged", lambda: any(
            "extension-apiserver-authentication-reader" in line and "RoleBinding" in line for line in daemon.log))
        self.assertEqual(self.status(daemon), 401)
        self.cluster.forbidden = re.compile("(?!)")
        wait_for("the front proxy is let in", lambda: self.status(daemon) == 200)

    def test_a_new_authority_is_taken_over_and_the_old_one_goes(self):
        daemon = self.start()
        wait_for("the front proxy is let in", lambda: self.status(daemon) == 200)
        old = self.certificates.front_proxy
        new_ca = Authority(self.folder, "new-front-proxy-ca")
        new = new_ca.issue("front-proxy-client", usage="clientAuth")
        # As a control plane replaces it: both, the new certificate, then the new one alone.
        self.trust(self.certificates.front_proxy_ca, new_ca)
        self.certificates.front_proxy = new
        begin = time.monotonic()
        wait_for("the new front proxy is let in", lambda: self.status(daemon) == 200)
        # An authority that is not known has the ConfigMap read at once, and not only when the minute is over.
        self.assertLess(time.monotonic() - begin, 40)
        self.certificates.front_proxy = old
        self.assertEqual(self.status(daemon), 200)
        self.trust(new_ca)
        wait_for("the old front proxy is let in no more", lambda: self.status(daemon) == 401)
        self.certificates.front_proxy = new
        self.assertEqual(self.status(daemon), 200)

    def test_a_new_token_is_used_and_a_broken_config_map_changes_nothing(self):
        daemon = self.start()
        wait_for("the front proxy is let in", lambda: self.status(daemon) == 200)
        replace(self.account / "token", "the-second-token")
        self.cluster.token = "the-second-token"
        self.cluster.objects[CONFIG_MAP]["data"]["requestheader-client-ca-file"] = "no certificate"
        seen = self.reads()
        self.certificates.stranger = Authority(self.folder, "strangers").issue("front-proxy-client", usage="clientAuth")

        def read_again():
            self.assertEqual(daemon.ask(VERSION, certificate="stranger", headers={"X-Remote-User": "eve"})[0], 401)
            return self.reads() > seen
        wait_for("the ConfigMap is read again", read_again)
        wait_for("what is wrong is logged", lambda: any("requestheader-client-ca-file" in line for line in daemon.log))
        self.assertEqual(self.status(daemon), 200)

    def test_the_doctor_asks_as_the_pod_that_it_runs_in(self):
        port = self.cluster.url.rsplit(":", 1)[1]
        done = subprocess.run([self.as_in_a_pod(TIDETOOL), "doctor", "--output=json"], capture_output=True, text=True,
                              timeout=120, env={"PATH": os.environ["PATH"], "KUBERNETES_SERVICE_HOST": "127.0.0.1",
                                                "KUBERNETES_SERVICE_PORT": port})
        found = {check["check"]: check["verdict"] for check in json.loads(done.stdout)["checks"]}
        self.assertEqual(found["kubernetes.version"], "ok")
        self.assertEqual(found["front_proxy.config_map"], "ok")
        self.assertEqual(found["apiservice.owner"], "problem")


if __name__ == "__main__":
    unittest.main()
