"""A Kubernetes API server of the tests' own: a few objects behind TLS, RBAC by path, and an aggregation layer that passes
requests on as the true one does."""

import base64
import http.client
import http.server
import json
import pathlib
import re
import socket
import ssl
import threading
import urllib.parse

from certificates import Authority

APISERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
APISERVICE = APISERVICES + "/v1beta1.external.metrics.k8s.io"
CONFIG_MAP = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
AUTOSCALERS = "/apis/autoscaling/v2/horizontalpodautoscalers"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
GROUP = "/apis/external.metrics.k8s.io/v1beta1"
KUBE_AGGREGATOR = "system:kube-aggregator"


class FakeKubernetes:
    """`objects`: what stands under which path; to be changed at will. `forbidden`: a pattern of paths that are 403.
    `backends`: (namespace, name) of a Service → port on this machine. `front_proxy`: certificate and key of the
    aggregation layer. `token`: what every request has to bring."""

    def __init__(self, folder, front_proxy, token="a-token-of-the-doctor", version=("1", "35")):
        self.authority = Authority(folder, "kubernetes-ca")
        self.front_proxy = front_proxy
        self.token = token
        self.objects = {"/version": {"major": version[0], "minor": version[1], "gitVersion": "v{}.{}.0".format(*version)}}
        self.forbidden = re.compile("(?!)")
        self.allowed_users = {"system:serviceaccount:kube-system:horizontal-pod-autoscaler"}
        self.backends = {}
        self.requests = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.authority.issue("kubernetes", "DNS:kubernetes,IP:127.0.0.1"))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def kubeconfig(self):
        """Its text. YAML is a superset of JSON."""
        authority = base64.b64encode(pathlib.Path(self.authority.certificate).read_bytes()).decode()
        return json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "doctor"}}],
            "clusters": [{"name": "test", "cluster": {"server": self.url, "certificate-authority-data": authority}}],
            "users": [{"name": "doctor", "user": {"token": self.token}}]})

    # The aggregation layer.

    def ask_backend(self, path, user):
        """(status, body) of the Service that the APIService names; an exception when it cannot be had."""
        spec = self.objects[APISERVICE]["spec"]
        service = spec["service"]
        context = ssl.create_default_context(cadata=base64.b64decode(spec["caBundle"]).decode())
        context.load_cert_chain(*self.front_proxy)
        connection = http.client.HTTPSConnection("127.0.0.1", timeout=20, context=context)
        port = self.backends[(service["namespace"], service["name"])]
        # As the API server does: the address is the Service's, the name is what the certificate is for.
        raw = socket.create_connection(("127.0.0.1", port), 20)
        connection.sock = context.wrap_socket(raw, server_hostname=f"{service['name']}.{service['namespace']}.svc")
        try:
            connection.request("GET", path, headers={"X-Remote-User": user, "X-Remote-Group": "system:masters",
                                                     "Accept": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def judge(self):
        """Sets the condition Available of the APIService by asking its backend."""
        api_service = self.objects.get(APISERVICE)
        if api_service is None:
            return
        condition = {"type": "Available", "status": "True", "reason": "Passed", "message": "all checks passed"}
        try:
            status, _ = self.ask_backend(GROUP, KUBE_AGGREGATOR)
            if status // 100 != 2:
                raise RuntimeError(f"bad status from {GROUP}: {status}")
        except Exception as error:  # whatever it is, it is told
            condition.update(status="False", reason="FailedDiscoveryCheck",
                             message=f"failing or missing response: {error}")
        api_service["status"] = {"conditions": [condition]}

    def _handler(self):
        cluster = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, value):
                body = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def refuse(self, status, reason, message):
                self.answer(status, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
                                     "message": message, "code": status})

            def serve(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                path = urllib.parse.urlsplit(self.path).path
                cluster.requests.append((self.command, path, self.headers.get("User-Agent")))
                if self.headers.get("Authorization") != f"Bearer {cluster.token}":
                    return self.refuse(401, "Unauthorized", "Unauthorized")
                if cluster.forbidden.search(path):
                    return self.refuse(403, "Forbidden", f"{path} is forbidden: User \"doctor\" cannot do that")
                if path.startswith(GROUP):
                    return self.aggregate()
                if self.command == "POST" and path == REVIEWS:
                    user = json.loads(body)["spec"]["user"]
                    return self.answer(201, {"status": {"allowed": user in cluster.allowed_users}})
                if self.command == "POST" and path == APISERVICES:
                    given = json.loads(body)
                    given["metadata"]["resourceVersion"] = "1"
                    cluster.objects[APISERVICE] = given
                    return self.answer(201, given)
                if path not in cluster.objects:
                    return self.refuse(404, "NotFound", f"{path} not found")
                if self.command == "PUT":
                    given = json.loads(body)
                    present = cluster.objects[path]["metadata"]["resourceVersion"]
                    if given["metadata"].get("resourceVersion") != present:
                        return self.refuse(409, "Conflict", "the object has been modified")
                    given["metadata"]["resourceVersion"] = str(int(present) + 1)
                    cluster.objects[path] = given
                    return self.answer(200, given)
                if path == APISERVICE:
                    cluster.judge()
                return self.answer(200, cluster.objects[path])

            def aggregate(self):
                try:
                    status, body = cluster.ask_backend(
                        self.path, "system:serviceaccount:kube-system:horizontal-pod-autoscaler")
                except Exception:
                    return self.refuse(503, "ServiceUnavailable",
                                       "the server is currently unable to handle the request")
                return self.answer(status, body)

            do_GET = do_POST = do_PUT = serve

            def log_message(self, *_):
                pass

        return Handler
