#!/usr/bin/env python3
"""Checks what deploy/ ships, as far as that is possible without a cluster: YAML, references between the manifests, the
promises of the pod's security, and the remote_write section in a configuration that promtool judges."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from programs import Daemon

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
KUSTOMIZE = DEPLOY / "kustomize"
REMOTE_WRITE = DEPLOY / "prometheus" / "remote-write.yaml"

NEEDS_YAML = unittest.skipIf(yaml is None, "the Python module yaml is not installed")
NEEDS_PROMTOOL = unittest.skipIf(shutil.which("promtool") is None, "promtool is not installed")


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def check_config(text):
    """What `promtool check config` says of a configuration: (exit code, output)."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "prometheus.yml"
        config.write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["promtool", "check", "config", str(config)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout


class Image(unittest.TestCase):
    def test_the_image_has_every_library_of_the_programs(self):
        """What the programs name themselves is in the Dockerfile's list; what those need apt brings with them."""
        listed = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").split("FROM")[-1].split()
        always = {"libc6", "libgcc-s1", "libstdc++6"}
        libraries = set()
        for program in (os.environ["TIDEMARK_BIN"], os.environ["TIDETOOL_BIN"]):
            lines = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
            libraries |= set(re.findall(r"\(NEEDED\) .*\[(\S+)\]", lines))
        self.assertGreater(len(libraries), 5)
        patterns = ["*/" + library for library in sorted(libraries)]
        found = subprocess.run(["dpkg-query", "-S", *patterns], capture_output=True, text=True, check=False).stdout
        for library in sorted(libraries):
            packages = {line.split(":", 1)[0] for line in found.splitlines() if line.endswith("/" + library)}
            with self.subTest(library=library):
                self.assertTrue(packages & (always | set(listed)), packages)

    @NEEDS_YAML
    def test_the_image_names_the_ports_of_the_manifests(self):
        named = re.search(r"^EXPOSE (.+)$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)[1].split()
        used = {str(port["containerPort"]) for folder in ("kustomize", "kustomize-external-metrics")
                for port in load(DEPLOY / folder / "deployment.yaml")["spec"]["template"]["spec"]["containers"][0]["ports"]}
        self.assertEqual(set(named), used)


class Files(unittest.TestCase):
    def test_yaml_has_no_tabs_and_ends_with_a_newline(self):
        files = sorted(DEPLOY.rglob("*.yaml"))
        self.assertGreaterEqual(len(files), 6)
        for path in files:
            with self.subTest(path=path.name):
                text = path.read_text(encoding="utf-8")
                self.assertNotIn("\t", text)
                self.assertTrue(text.endswith("\n"))

    @NEEDS_YAML
    def test_every_yaml_file_parses(self):
        for path in sorted(DEPLOY.rglob("*.yaml")):
            with self.subTest(path=path.name):
                documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
                self.assertTrue(documents)
                for document in documents:
                    # Patches in the form of RFC 6902 are lists.
                    self.assertIsInstance(document, list if path.name == "arguments.yaml" else dict)


@NEEDS_YAML
class Manifests(unittest.TestCase):
    def setUp(self):
        self.kustomization = load(KUSTOMIZE / "kustomization.yaml")
        self.pod = load(KUSTOMIZE / "deployment.yaml")["spec"]["template"]["spec"]
        self.container = self.pod["containers"][0]

    def test_kustomization_names_every_manifest(self):
        named = set(self.kustomization["resources"]) | {"kustomization.yaml"}
        for generator in self.kustomization["configMapGenerator"]:
            named |= set(generator["files"])
        self.assertEqual(named, {path.name for path in KUSTOMIZE.iterdir()})

    def test_volumes_lead_to_what_is_there(self):
        volumes = {volume["name"]: volume for volume in self.pod["volumes"]}
        self.assertEqual(
            {mount["name"] for mount in self.container["volumeMounts"]}, set(volumes)
        )
        generators = {generator["name"] for generator in self.kustomization["configMapGenerator"]}
        self.assertIn(volumes["config"]["configMap"]["name"], generators)

    def test_paths_in_the_arguments_are_mounted(self):
        mounts = {mount["mountPath"]: mount for mount in self.container["volumeMounts"]}
        arguments = dict(argument.split("=", 1) for argument in self.container["args"])
        folder, name = arguments["--config.file"].rsplit("/", 1)
        self.assertIn(folder, mounts)
        self.assertIn(name, self.kustomization["configMapGenerator"][0]["files"])
        # A folder in the volume, which may have others of its own (lost+found).
        storage = arguments["--storage.path"].rsplit("/", 1)[0]
        self.assertNotIn("readOnly", mounts[storage])
        claim = load(KUSTOMIZE / "volume.yaml")["metadata"]["name"]
        volumes = {volume["name"]: volume for volume in self.pod["volumes"]}
        self.assertEqual(volumes[mounts[storage]["name"]]["persistentVolumeClaim"]["claimName"], claim)

    def test_the_pod_is_confined(self):
        self.assertIs(self.pod["securityContext"]["runAsNonRoot"], True)
        security = self.container["securityContext"]
        self.assertIs(security["readOnlyRootFilesystem"], True)
        self.assertIs(security["allowPrivilegeEscalation"], False)
        self.assertEqual(security["capabilities"], {"drop": ["ALL"]})
        self.assertIn("memory", self.container["resources"]["limits"])

    def test_probes_service_and_monitor_use_the_same_port(self):
        ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        self.assertEqual(ports, {"http": 9849})
        self.assertEqual(
            self.container["livenessProbe"]["httpGet"], {"path": "/-/healthy", "port": "http"}
        )
        self.assertEqual(
            self.container["readinessProbe"]["httpGet"], {"path": "/-/ready", "port": "http"}
        )
        service = load(KUSTOMIZE / "service.yaml")["spec"]["ports"][0]
        self.assertEqual((service["port"], service["targetPort"]), (9849, "http"))
        endpoint = load(KUSTOMIZE / "servicemonitor.yaml")["spec"]["endpoints"][0]
        self.assertEqual(endpoint["port"], service["name"])
        self.assertIs(endpoint["honorLabels"], True)


@NEEDS_YAML
class OverTls(unittest.TestCase):
    """deploy/kustomize-tls, which is laid over deploy/kustomize."""

    def setUp(self):
        self.folder = DEPLOY / "kustomize-tls"
        self.kustomization = load(self.folder / "kustomization.yaml")
        self.pod = load(self.folder / "deployment.yaml")["spec"]["template"]["spec"]
        self.container = self.pod["containers"][0]

    def test_kustomization_names_every_file(self):
        named = set(self.kustomization["patchesStrategicMerge"]) | {"kustomization.yaml"}
        for generator in self.kustomization["configMapGenerator"]:
            named |= set(generator["files"])
        self.assertEqual(named, {path.name for path in self.folder.iterdir()})

    def test_state_is_kept_as_without_tls(self):
        plain = load(KUSTOMIZE / "deployment.yaml")["spec"]["template"]["spec"]["containers"][0]
        kept = [argument for argument in plain["args"] if argument.startswith("--storage.path=")]
        self.assertEqual(len(kept), 1)
        self.assertIn(kept[0], self.container["args"])

    def test_every_path_is_mounted_from_a_secret(self):
        secrets = {volume["name"] for volume in self.pod["volumes"] if "secret" in volume}
        mounts = {mount["mountPath"] for mount in self.container["volumeMounts"] if mount["name"] in secrets}
        web = load(self.folder / "web.yaml")["tls_server_config"]
        for path in (web["cert_file"], web["key_file"], load(self.folder / "tidemark.yaml")["remote_write"]["bearer_token_file"]):
            self.assertIn(path.rsplit("/", 1)[0], mounts)

    def test_probes_and_monitor_speak_tls(self):
        for probe in ("livenessProbe", "readinessProbe"):
            self.assertEqual(self.container[probe]["httpGet"]["scheme"], "HTTPS")
        self.assertEqual(load(self.folder / "servicemonitor.yaml")["spec"]["endpoints"][0]["scheme"], "https")

    @unittest.skipIf("TIDETOOL_BIN" not in os.environ, "there is no tidetool")
    def test_tidetool_takes_both_configurations(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=a",
                            "-keyout", f"{folder}/tls.key", "-out", f"{folder}/tls.crt"], check=True, capture_output=True)
            for command, name in (("check-config", "tidemark.yaml"), ("check-web-config", "web.yaml")):
                text = (self.folder / name).read_text(encoding="utf-8").replace("/etc/tidemark-tls", folder)
                config = pathlib.Path(folder) / name
                config.write_text(text, encoding="utf-8")
                done = subprocess.run([os.environ["TIDETOOL_BIN"], command, str(config)], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)


class RemoteWrite(unittest.TestCase):
    @NEEDS_PROMTOOL
    def test_promtool_takes_the_section(self):
        code, said = check_config("scrape_configs: []\n" + REMOTE_WRITE.read_text(encoding="utf-8"))
        self.assertEqual(code, 0, said)

    @NEEDS_PROMTOOL
    def test_promtool_takes_the_section_over_tls(self):
        text = (DEPLOY / "prometheus" / "remote-write-tls.yaml").read_text(encoding="utf-8")
        with tempfile.NamedTemporaryFile() as file:
            text = re.sub(r"/etc/prometheus/\S+", file.name, text)
            code, said = check_config("scrape_configs: []\n" + text)
        self.assertEqual(code, 0, said)

    @NEEDS_PROMTOOL
    def test_promtool_would_object_to_a_wrong_section(self):
        wrong = REMOTE_WRITE.read_text(encoding="utf-8").replace("batch_send_deadline", "deadline")
        code, _ = check_config("scrape_configs: []\n" + wrong)
        self.assertNotEqual(code, 0)

    @NEEDS_PROMTOOL
    def test_promtool_takes_the_configuration_of_the_demo(self):
        template = (ROOT / "scripts" / "demo.d" / "prometheus.yml.in").read_text(encoding="utf-8")
        filled = re.sub(r"@[A-Z_]+@", "127.0.0.1:9", template)
        code, said = check_config(filled + REMOTE_WRITE.read_text(encoding="utf-8"))
        self.assertEqual(code, 0, said)

    @NEEDS_YAML
    def test_the_keep_list_is_plain_names_each_once(self):
        relabel = load(REMOTE_WRITE)["remote_write"][0]["write_relabel_configs"]
        self.assertEqual(len(relabel), 1)
        self.assertEqual(relabel[0]["action"], "keep")
        self.assertEqual(relabel[0]["source_labels"], ["__name__"])
        names = relabel[0]["regex"].split("|")
        for name in names:
            self.assertRegex(name, r"^[a-zA-Z_][a-zA-Z0-9_]*$")
        self.assertEqual(len(names), len(set(names)))
        with Daemon(None) as daemon:
            sources = json.loads(daemon.get("/api/v1/status/sources")[2])["data"]
        self.assertEqual(set(names), {source["metric"] for source in sources["sources"]})

    @NEEDS_YAML
    def test_nothing_else_narrows_what_is_sent_or_scraped(self):
        """The manifests have no list of their own that could fall behind."""
        for path in sorted(DEPLOY.rglob("*.yaml")):
            if path != REMOTE_WRITE:
                text = path.read_text(encoding="utf-8")
                self.assertNotIn("container_cpu_usage", text, path.name)
                self.assertNotIn("elabelings", text, path.name)  # metricRelabelings and the like


if __name__ == "__main__":
    unittest.main()
