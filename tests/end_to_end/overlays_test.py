#!/usr/bin/env python3
"""The manifests in deploy/ as kubectl builds them: each object refers to what is there, rights are where they are needed and
nowhere else, and the real daemon starts with the pod's arguments on the pod's files.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool overlays_test.py
"""

import base64
import functools
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from certificates import Authority
from programs import ANSWER_SECONDS, BINARY, free_port, wait_for

try:
    import yaml
except ImportError:
    yaml = None

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
TIDETOOL = os.environ.get("TIDETOOL_BIN", "build/release/bin/tidetool")
NAMESPACE = "monitoring"
READ_ONLY = ("kustomize", "kustomize-tls")
WITH_PORT = ("kustomize-external-metrics", "kustomize-webhook")
OVERLAYS = (*READ_ONLY, *WITH_PORT)
RIGHTS = {"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
HPA_CONTROLLER = {"kind": "ServiceAccount", "name": "horizontal-pod-autoscaler", "namespace": "kube-system"}

NEEDS_YAML = unittest.skipIf(yaml is None, "the Python module yaml is not installed")
NEEDS_KUBECTL = unittest.skipIf(shutil.which("kubectl") is None, "there is no kubectl (Debian: kubernetes-client)")


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def built(overlay, deploy=DEPLOY):
    """The objects of an overlay."""
    done = subprocess.run(["kubectl", "kustomize", str(deploy / overlay)], capture_output=True, text=True,
                          timeout=ANSWER_SECONDS, check=False)
    if done.returncode:
        raise AssertionError(f"kubectl kustomize {overlay}: {done.stderr}")
    return [document for document in yaml.safe_load_all(done.stdout) if document]


class Objects:
    """What an overlay builds, to be looked up."""

    def __init__(self, overlay):
        self.overlay = overlay
        self.all = built(overlay)

    def of(self, kind):
        return [each for each in self.all if each["kind"] == kind]

    def named(self, kind, name, namespace=NAMESPACE):
        (found,) = [each for each in self.of(kind)
                    if each["metadata"]["name"] == name and each["metadata"].get("namespace") == namespace]
        return found

    @property
    def deployment(self):
        (found,) = self.of("Deployment")
        return found

    @property
    def pod(self):
        return self.deployment["spec"]["template"]["spec"]

    @property
    def container(self):
        (found,) = self.pod["containers"]
        return found

    @property
    def labels(self):
        return self.deployment["spec"]["template"]["metadata"]["labels"]

    @property
    def ports(self):
        return {port["name"]: port["containerPort"] for port in self.container["ports"]}

    def data(self):
        """Files of the ConfigMap that the pod mounts."""
        (name,) = [volume["configMap"]["name"] for volume in self.pod["volumes"] if "configMap" in volume]
        return self.named("ConfigMap", name)["data"]


def for_each(*overlays):
    """The test, for each of these overlays, or for all."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for overlay in overlays or OVERLAYS:
                with self.subTest(overlay):
                    test(self, self.overlays[overlay])
        return run
    return decorate


def selected(selector, labels):
    return bool(selector) and selector.items() <= labels.items()


@NEEDS_YAML
class Folders(unittest.TestCase):
    def test_every_folder_is_known_here(self):
        self.assertEqual({path.parent.name for path in DEPLOY.glob("*/kustomization.yaml")}, set(OVERLAYS))

    def test_each_kustomization_names_every_file_beside_it(self):
        for overlay in OVERLAYS:
            with self.subTest(overlay):
                kustomization = load(DEPLOY / overlay / "kustomization.yaml")
                named = [*kustomization.get("resources", ()), *kustomization.get("patchesStrategicMerge", ()),
                         *(patch["path"] for patch in kustomization.get("patchesJson6902", ())),
                         *(name for each in kustomization.get("configMapGenerator", ()) for name in each["files"])]
                self.assertEqual(sorted([*named, "kustomization.yaml"]),
                                 sorted(path.name for path in (DEPLOY / overlay).iterdir()))

    def test_only_keys_that_kubectl_1_20_knows(self):
        known = {"apiVersion", "kind", "namespace", "bases", "resources", "patchesStrategicMerge", "patchesJson6902",
                 "configMapGenerator"}
        for overlay in OVERLAYS:
            kustomization = load(DEPLOY / overlay / "kustomization.yaml")
            self.assertLessEqual(set(kustomization), known, overlay)
            for resource in kustomization.get("resources", ()):
                self.assertTrue((DEPLOY / overlay / resource).is_file(), resource)  # folders are bases there


class Manual(unittest.TestCase):
    """docs/kubernetes.md."""

    def setUp(self):
        self.text = (DEPLOY.parent / "docs" / "kubernetes.md").read_text(encoding="utf-8")

    def test_what_it_names_is_there(self):
        named = set(re.findall(r"\bdeploy/[\w./-]*\w", self.text)) | {
            "docs/" + name for name in re.findall(r"\(([\w-]+\.md)[#)]", self.text)}
        self.assertGreater(len(named), 8)
        for path in named:
            self.assertTrue((DEPLOY.parent / path).exists(), path)

    def test_the_certificate_by_hand_is_good(self):
        (block,) = re.findall(r"\*\*By hand\*\*:\n\n((?:    .*\n)+)", self.text)
        commands = re.sub(r"^    ", "", block, flags=re.MULTILINE)
        commands, kubectl = commands[:commands.index("kubectl")], commands[commands.index("kubectl"):]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["sh", "-e", "-c", commands], check=True, capture_output=True, cwd=folder)
            for name in re.findall(r"--(?:cert|key)=(\S+)", kubectl):
                self.assertTrue(pathlib.Path(folder, name).is_file(), name)
            done = subprocess.run(
                ["openssl", "verify", "-CAfile", "ca.crt", "-purpose", "sslserver", "-verify_hostname",
                 f"tidemark.{NAMESPACE}.svc", "tls.crt"], capture_output=True, text=True, cwd=folder, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


@NEEDS_YAML
@NEEDS_KUBECTL
class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.overlays = {overlay: Objects(overlay) for overlay in OVERLAYS}

    @for_each()
    def test_every_object_is_there_once_and_in_its_namespace(self, objects):
        cluster_wide = {"ClusterRole", "ClusterRoleBinding", "APIService", "MutatingWebhookConfiguration"}
        names = [(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in objects.all]
        self.assertEqual(len(names), len(set(names)))
        for kind, namespace, name in names:
            if kind in cluster_wide:
                self.assertIsNone(namespace, name)
            elif kind == "RoleBinding":
                self.assertEqual(namespace, "kube-system")
            else:
                self.assertEqual(namespace, NAMESPACE, (kind, name))

    @for_each()
    def test_selectors_take_in_the_pod(self, objects):
        labels = objects.labels
        self.assertTrue(selected(objects.deployment["spec"]["selector"]["matchLabels"], labels))
        (service,) = objects.of("Service")
        self.assertTrue(selected(service["spec"]["selector"], labels))
        (monitor,) = objects.of("ServiceMonitor")
        self.assertTrue(selected(monitor["spec"]["selector"]["matchLabels"], service["metadata"]["labels"]))
        (budget,) = objects.of("PodDisruptionBudget")
        self.assertTrue(selected(budget["spec"]["selector"]["matchLabels"], labels))
        policies = objects.of("NetworkPolicy")
        self.assertEqual(len(policies), 1 if objects.overlay in READ_ONLY else 2)
        for policy in policies:
            self.assertTrue(selected(policy["spec"]["podSelector"]["matchLabels"], labels))

    @for_each()
    def test_ports_lead_to_the_container(self, objects):
        ports = objects.ports
        expected = {"http": 9849} if objects.overlay in READ_ONLY else {"http": 9849, "https": 9443}
        self.assertEqual(ports, expected)
        (service,) = objects.of("Service")
        offered = {port["name"]: (port["port"], port["targetPort"]) for port in service["spec"]["ports"]}
        self.assertEqual(offered, {"http": (9849, "http"), "https": (443, "https")} if "https" in ports else
                         {"http": (9849, "http")})
        (monitor,) = objects.of("ServiceMonitor")
        for endpoint in monitor["spec"]["endpoints"]:
            self.assertIn(endpoint["port"], offered)
            self.assertIs(endpoint["honorLabels"], True)
        # Whether it is alive, and whether samples are taken in, is said on the web port.
        for probe, path in (("livenessProbe", "/-/healthy"), ("readinessProbe", "/-/ready")):
            self.assertEqual(objects.container[probe]["httpGet"]["port"], "http")
            self.assertEqual(objects.container[probe]["httpGet"]["path"], path)
        let_in = {port["port"] for policy in objects.of("NetworkPolicy") for rule in policy["spec"]["ingress"]
                  for port in rule["ports"]}
        self.assertEqual(let_in, set(ports.values()))
        listened = {int(argument.rsplit(":", 1)[1]) for argument in objects.container["args"] if ".listen-address=" in argument}
        self.assertEqual(listened, set(ports.values()))

    @for_each()
    def test_the_web_port_is_for_one_namespace(self, objects):
        base = objects.named("NetworkPolicy", "tidemark")["spec"]
        (web,) = base["ingress"]
        (source,) = web["from"]
        self.assertEqual(source["namespaceSelector"]["matchLabels"], {"kubernetes.io/metadata.name": NAMESPACE})
        self.assertEqual(base["policyTypes"], ["Ingress", "Egress"])
        self.assertEqual({(port["protocol"], port["port"]) for port in base["egress"][0]["ports"]},
                         {("UDP", 53), ("TCP", 53)})

    @for_each(*WITH_PORT)
    def test_the_kubernetes_port_is_for_the_api_server_which_is_no_pod(self, objects):
        added = objects.named("NetworkPolicy", "tidemark-kubernetes")["spec"]
        self.assertNotIn("from", added["ingress"][0])
        self.assertEqual({port["port"] for port in added["egress"][0]["ports"]}, {443, 6443})

    @for_each()
    def test_there_is_one_pod_and_a_drain_may_take_it(self, objects):
        self.assertEqual(objects.deployment["spec"]["replicas"], 1)
        self.assertEqual(objects.deployment["spec"]["strategy"], {"type": "Recreate"})
        (budget,) = objects.of("PodDisruptionBudget")
        self.assertEqual(budget["apiVersion"], "policy/v1")
        self.assertEqual(budget["spec"]["maxUnavailable"], 1)
        self.assertNotIn("minAvailable", budget["spec"])

    @for_each()
    def test_volumes_lead_to_what_is_there(self, objects):
        issued = {each["spec"]["secretName"] for each in objects.of("Certificate")}
        said = " ".join((DEPLOY / folder / "kustomization.yaml").read_text(encoding="utf-8") for folder in OVERLAYS)
        by_hand = set(re.findall(r"create secret (?:generic|tls) (\S+)", said))
        volumes = {volume["name"]: volume for volume in objects.pod["volumes"]}
        self.assertEqual({mount["name"] for mount in objects.container["volumeMounts"]}, set(volumes))
        for volume in volumes.values():
            if "persistentVolumeClaim" in volume:
                objects.named("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"])
            elif "secret" in volume:
                self.assertIn(volume["secret"]["secretName"], issued | by_hand)
                self.assertEqual(volume["secret"]["defaultMode"], 0o440)
            else:
                self.assertTrue(objects.data())

    @for_each()
    def test_the_daemon_knows_every_flag(self, objects):
        known = set(re.findall(r"--([a-z][a-z.-]+)", subprocess.run(
            [BINARY, "--help"], capture_output=True, text=True, check=True).stdout))
        self.assertIn("config.file", known)
        flags = [re.fullmatch(r"--([a-z.-]+)=.+", argument)[1] for argument in objects.container["args"]]
        self.assertEqual(len(flags), len(set(flags)))
        self.assertLessEqual(set(flags), known)

    @for_each(*READ_ONLY)
    def test_who_only_reads_samples_has_no_rights(self, objects):
        self.assertFalse(RIGHTS & {each["kind"] for each in objects.all})
        self.assertIs(objects.pod["automountServiceAccountToken"], False)
        self.assertNotIn("serviceAccountName", objects.pod)

    @for_each(*WITH_PORT)
    def test_rights_are_those_that_are_needed(self, objects):
        account = objects.named("ServiceAccount", objects.pod["serviceAccountName"])
        subject = {"kind": "ServiceAccount", "name": account["metadata"]["name"], "namespace": NAMESPACE}
        self.assertIs(objects.pod["automountServiceAccountToken"], True)
        self.assertIs(account["automountServiceAccountToken"], False)
        (own,) = objects.of("RoleBinding")
        self.assertEqual(own["subjects"], [subject])
        self.assertEqual((own["roleRef"]["kind"], own["roleRef"]["name"]),
                         ("Role", "extension-apiserver-authentication-reader"))
        (others,) = objects.of("ClusterRoleBinding")
        self.assertEqual(others["subjects"], [HPA_CONTROLLER])
        role = objects.named(others["roleRef"]["kind"], others["roleRef"]["name"], None)
        (service,) = objects.of("APIService")
        self.assertEqual(role["rules"], [{"apiGroups": [service["spec"]["group"]], "resources": ["*"],
                                          "verbs": ["get", "list"]}])
        self.assertEqual(len(objects.of("ClusterRole")), 1)

    def leads_here(self, objects, service, annotations):
        """A reference of the API server to the Kubernetes port, and the authority that it knows it by."""
        there = objects.named("Service", service["name"], service["namespace"])
        (port,) = [port for port in there["spec"]["ports"] if port["port"] == service["port"]]
        self.assertEqual(objects.ports[port["targetPort"]], 9443)
        namespace, name = annotations["cert-manager.io/inject-ca-from"].split("/")
        certificate = objects.named("Certificate", name, namespace)["spec"]
        self.assertIn(f"{service['name']}.{service['namespace']}.svc", certificate["dnsNames"])
        self.assertIn("server auth", certificate["usages"])
        (mounted,) = [volume for volume in objects.pod["volumes"]
                      if volume.get("secret", {}).get("secretName") == certificate["secretName"]]
        (folder,) = [mount["mountPath"] for mount in objects.container["volumeMounts"] if mount["name"] == mounted["name"]]
        self.assertIn(f"--kubernetes.tls-cert-file={folder}/tls.crt", objects.container["args"])
        self.assertIn(f"--kubernetes.tls-private-key-file={folder}/tls.key", objects.container["args"])
        # Up to the authority that signs itself.
        issuer = objects.named("Issuer", certificate["issuerRef"]["name"])
        (above,) = [each["spec"] for each in objects.of("Certificate")
                    if each["spec"]["secretName"] == issuer["spec"]["ca"]["secretName"]]
        self.assertIs(above["isCA"], True)
        self.assertEqual(objects.named("Issuer", above["issuerRef"]["name"])["spec"], {"selfSigned": {}})

    @for_each(*WITH_PORT)
    def test_the_api_service_leads_to_the_port(self, objects):
        (service,) = objects.of("APIService")
        self.assertEqual(service["metadata"]["name"], f"{service['spec']['version']}.{service['spec']['group']}")
        self.leads_here(objects, service["spec"]["service"], service["metadata"]["annotations"])
        self.assertNotIn("insecureSkipTLSVerify", service["spec"])

    def test_tidetool_would_print_the_same_api_service(self):
        """What `tidetool doctor --print-apiservice` says of the Service that the overlay has."""
        with tempfile.TemporaryDirectory() as folder:
            authority = Authority(folder, "ca")
            printed = yaml.safe_load(subprocess.run(
                [TIDETOOL, "doctor", "--print-apiservice", f"--service={NAMESPACE}/tidemark:443",
                 f"--kubernetes.ca-file={authority.certificate}"], capture_output=True, text=True, check=True,
                timeout=ANSWER_SECONDS).stdout)
            self.assertTrue(base64.b64decode(printed["spec"].pop("caBundle")).startswith(b"-----BEGIN CERTIFICATE"))
        (service,) = self.overlays["kustomize-external-metrics"].of("APIService")
        self.assertEqual(printed["metadata"]["name"], service["metadata"]["name"])
        self.assertEqual(printed["spec"], service["spec"])

    @for_each("kustomize-webhook")
    def test_the_webhook_harms_nobody(self, objects):
        (configuration,) = objects.of("MutatingWebhookConfiguration")
        self.assertEqual(configuration["metadata"]["name"], "tidemark")
        (webhook,) = configuration["webhooks"]
        self.leads_here(objects, webhook["clientConfig"]["service"], configuration["metadata"]["annotations"])
        self.assertEqual(webhook["clientConfig"]["service"]["path"], "/admission/pods")
        self.assertEqual({name: webhook[name] for name in (
            "failurePolicy", "timeoutSeconds", "sideEffects", "reinvocationPolicy", "matchPolicy",
            "admissionReviewVersions")}, {
            "failurePolicy": "Ignore", "timeoutSeconds": 2, "sideEffects": "None", "reinvocationPolicy": "IfNeeded",
            "matchPolicy": "Equivalent", "admissionReviewVersions": ["v1"]})
        self.assertEqual(webhook["rules"], [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                                             "resources": ["pods"], "scope": "Namespaced"}])
        (namespaces,) = webhook["namespaceSelector"]["matchExpressions"]
        self.assertEqual((namespaces["key"], namespaces["operator"]), ("kubernetes.io/metadata.name", "NotIn"))
        self.assertEqual(set(namespaces["values"]), {"kube-system", objects.deployment["metadata"]["namespace"]})
        (mode,) = webhook["objectSelector"]["matchExpressions"]
        self.assertEqual((mode["key"], mode["operator"]), ("tidemark.io/mode", "In"))
        self.assertEqual(set(mode["values"]), {"dry-run", "apply"})
        # Nor does it ask about the pod that answers.
        self.assertNotIn("tidemark.io/mode", objects.labels)

    @for_each(*READ_ONLY, "kustomize-external-metrics")
    def test_nobody_else_has_a_webhook(self, objects):
        self.assertFalse(objects.of("MutatingWebhookConfiguration"))

    def test_the_port_goes_over_tls_as_well(self):
        """As kustomize-external-metrics says: with the other base."""
        with tempfile.TemporaryDirectory() as folder:
            deploy = pathlib.Path(shutil.copytree(DEPLOY, pathlib.Path(folder, "deploy")))
            kustomization = deploy / "kustomize-external-metrics" / "kustomization.yaml"
            text = kustomization.read_text(encoding="utf-8")
            kustomization.write_text(text.replace("  - ../kustomize\n", "  - ../kustomize-tls\n"), encoding="utf-8")
            (deployment,) = [each for each in built("kustomize-external-metrics", deploy) if each["kind"] == "Deployment"]
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        both = (*self.overlays["kustomize-tls"].container["args"],
                *self.overlays["kustomize-external-metrics"].container["args"])
        self.assertEqual(set(container["args"]), set(both))
        self.assertEqual(container["readinessProbe"]["httpGet"]["scheme"], "HTTPS")
        self.assertEqual({mount["name"] for mount in container["volumeMounts"]},
                         {"config", "data", "tls", "tokens", "kubernetes-tls"})

    @for_each()
    def test_the_daemon_starts_as_in_the_pod(self, objects):
        """Its arguments and files, but for where they lie, and for the addresses."""
        with tempfile.TemporaryDirectory(prefix="tidemark-overlay-") as folder:
            authority = Authority(folder, "ca")
            certificate, key = authority.issue("tidemark", "DNS:tidemark.monitoring.svc,IP:127.0.0.1")
            tls = ssl.create_default_context(cafile=authority.certificate)
            volumes = {volume["name"]: volume for volume in objects.pod["volumes"]}
            paths = {}
            for mount in objects.container["volumeMounts"]:
                there = pathlib.Path(folder, mount["name"])
                there.mkdir()
                paths[mount["mountPath"]] = str(there)
                volume = volumes[mount["name"]]
                if "secret" in volume and mount["name"] == "tokens":
                    (there / "tokens").write_text("a-token-of-some-length\n")
                elif "secret" in volume:
                    shutil.copy(certificate, there / "tls.crt")
                    shutil.copy(key, there / "tls.key")

            def moved(text):
                return re.sub("|".join(sorted(map(re.escape, paths), key=len, reverse=True)),
                              lambda found: paths[found[0]], text)

            ports = {9849: free_port(), 9443: free_port()}
            arguments = [moved(argument) if "listen-address" not in argument else
                         re.sub(r"0\.0\.0\.0:(\d+)", lambda found: f"127.0.0.1:{ports[int(found[1])]}", argument)
                         for argument in objects.container["args"]]
            for name, text in objects.data().items():
                pathlib.Path(paths["/etc/tidemark"], name).write_text(moved(text))
            self.check_configuration(pathlib.Path(paths["/etc/tidemark"]))
            # In the cluster who front proxies are is read from a ConfigMap: in_cluster_test.py.
            if "https" in objects.ports:
                arguments.append(f"--kubernetes.requestheader-client-ca-file={authority.certificate}")
            scheme = objects.container["readinessProbe"]["httpGet"].get("scheme", "HTTP").lower()
            self.started(arguments, [f"{scheme}://127.0.0.1:{ports[9849]}/-/ready"] +
                         ([f"https://127.0.0.1:{ports[9443]}/readyz"] if "https" in objects.ports else []), tls, folder)

    def check_configuration(self, folder):
        for command, name in (("check-config", "tidemark.yaml"), ("check-web-config", "web.yaml")):
            if (folder / name).exists():
                done = subprocess.run([TIDETOOL, command, str(folder / name)], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    def started(self, arguments, urls, tls, folder):
        log = pathlib.Path(folder, "log")

        def answers(url):
            self.assertIsNone(process.poll(), log.read_text())
            try:
                with urllib.request.urlopen(url, timeout=ANSWER_SECONDS, context=tls) as answer:
                    return answer.status == 200
            except (OSError, urllib.error.URLError):
                return False

        with open(log, "w", encoding="utf-8") as output:
            process = subprocess.Popen([BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       env={name: value for name, value in os.environ.items()
                                            if not name.startswith("KUBERNETES_")})
            try:
                for url in urls:
                    wait_for(f"{url}", lambda url=url: answers(url))
            finally:
                process.terminate()
                process.wait(ANSWER_SECONDS)
        self.assertEqual(process.returncode, 0, log.read_text())


if __name__ == "__main__":
    unittest.main()
