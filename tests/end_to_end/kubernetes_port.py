"""A tidemark with a Kubernetes port, and those who ask it: a front proxy as kube-apiserver's aggregation layer is one, a
client with a certificate of its own, and kubectl."""

import base64
import http.client
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import threading

from certificates import Authority
from programs import ANSWER_SECONDS, Daemon, wait_for

GROUP = "/apis/external.metrics.k8s.io"
VERSION = GROUP + "/v1beta1"
SERVICE = "tidemark.tidemark.svc"
HPA = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"


class Certificates:
    """All that the port and its callers need, in a folder."""

    def __init__(self, folder):
        self.serving_ca = Authority(folder, "serving-ca")
        self.front_proxy_ca = Authority(folder, "front-proxy-ca")
        self.client_ca = Authority(folder, "client-ca")
        self.serving = self.serving_ca.issue("tidemark", f"DNS:{SERVICE},DNS:localhost,IP:127.0.0.1")
        self.front_proxy = self.front_proxy_ca.issue("front-proxy-client", usage="clientAuth")
        self.client = self.client_ca.issue("alice", organisations=("platform",), usage="clientAuth")

    def flags(self):
        certificate, key = self.serving
        return ["--kubernetes.listen-address=127.0.0.1:0", f"--kubernetes.tls-cert-file={certificate}",
                f"--kubernetes.tls-private-key-file={key}",
                f"--kubernetes.requestheader-client-ca-file={self.front_proxy_ca.certificate}",
                "--kubernetes.requestheader-allowed-names=front-proxy-client",
                f"--kubernetes.client-ca-file={self.client_ca.certificate}"]

    def context(self, certificate=None, key=None):
        """For a connection to the port; `certificate` and `key` are the client's."""
        context = ssl.create_default_context(cafile=self.serving_ca.certificate)
        if certificate:
            context.load_cert_chain(certificate, key)
        return context


class KubernetesDaemon(Daemon):
    """As Daemon, with a Kubernetes port and `certificates`."""

    def __init__(self, certificates, config="", flags=(), **others):
        super().__init__(config, flags=[*certificates.flags(), *flags], **others)
        self.certificates = certificates

    def kubernetes_port(self):
        def said():
            for line in reversed(self.log):
                found = re.search(r'msg="serving the Kubernetes API" .*\baddress="?127\.0\.0\.1:(\d+)', line)
                if found:
                    return int(found.group(1))
            return None
        return wait_for("the Kubernetes port", said)

    def ask(self, path, method="GET", headers=(), body=None, certificate="front_proxy", user=HPA, timeout=ANSWER_SECONDS):
        """(status, headers, body) from the Kubernetes port, with one of `certificates` or none; a front proxy names `user`."""
        pair = getattr(self.certificates, certificate) if certificate else (None, None)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.kubernetes_port(), timeout=timeout, context=self.certificates.context(*pair))
        given = dict(headers)
        if certificate == "front_proxy":
            given.update({"X-Remote-User": user, "X-Remote-Group": "system:authenticated"})
        try:
            connection.request(method, path, body, given)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def metric(self, name, selector, namespace="shop", **others):
        """(status, JSON) of one metric, as an HPA asks for it."""
        status, _, body = self.ask(f"{VERSION}/namespaces/{namespace}/{name}?labelSelector={selector}",
                                   headers={"Accept": "application/vnd.kubernetes.protobuf, */*"}, **others)
        return status, json.loads(body)


class FrontProxy:
    """What the aggregation layer does: takes requests of somebody it has let in, and passes them on with its own certificate
    and headers that say who. Plain HTTP, for one test."""

    def __init__(self, daemon, user=HPA, groups=("system:authenticated",)):
        certificates, port = daemon.certificates, daemon.kubernetes_port()
        context = certificates.context(*certificates.front_proxy)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                upstream = http.client.HTTPSConnection("127.0.0.1", port, timeout=ANSWER_SECONDS, context=context)
                try:
                    upstream.putrequest(self.command, self.path, skip_accept_encoding=True)
                    for name, value in self.headers.items():
                        if not name.lower().startswith("x-remote-") and name.lower() not in ("host", "connection"):
                            upstream.putheader(name, value)
                    upstream.putheader("X-Remote-User", user)
                    for group in groups:
                        upstream.putheader("X-Remote-Group", group)
                    upstream.endheaders(body)
                    answer = upstream.getresponse()
                    content = answer.read()
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        if name.lower() not in ("connection", "content-length", "date", "server"):
                            self.send_header(name, value)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                finally:
                    upstream.close()

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = pass_on

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Kubectl:
    """The real one, with a configuration and caches in `folder`."""

    def __init__(self, folder, server, certificates=None):
        """Straight at the port with `certificates`, else through a front proxy."""
        self.folder = pathlib.Path(folder)
        cluster, user = {"server": server}, {}
        if certificates:
            def data(path):
                return base64.b64encode(pathlib.Path(path).read_bytes()).decode()
            cluster["certificate-authority-data"] = data(certificates.serving_ca.certificate)
            user = {"client-certificate-data": data(certificates.client[0]), "client-key-data": data(certificates.client[1])}
        self.config = self.folder / "kubeconfig"
        self.config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": cluster}], "users": [{"name": "it", "user": user}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))

    def run(self, *arguments):
        """(exit code, stdout, stderr)."""
        done = subprocess.run(
            ["kubectl", f"--kubeconfig={self.config}", f"--cache-dir={self.folder}/cache", *arguments], text=True,
            capture_output=True, timeout=ANSWER_SECONDS, check=False,
            env={**os.environ, "HOME": str(self.folder), "KUBECONFIG": str(self.config), "NO_PROXY": "*"})
        return done.returncode, done.stdout, done.stderr
