#!/usr/bin/env python3
"""The Debian package, out of the programs of this build: what is in it, what it needs, that its programs run from it, and what
its maintainer scripts do. Nothing is installed.

usage: TIDEMARK_BIN=build/release/bin/tidemark TIDETOOL_BIN=build/release/bin/tidetool package_test.py
"""

import gzip
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

import programs
from programs import Daemon

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(programs.BINARY).resolve().parents[1]
PACK_SECONDS = 900
MISSING = [program for program in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "strip") if shutil.which(program) is None]


def said(*command, **others):
    return subprocess.run(command, capture_output=True, text=True, check=True, **others).stdout


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)} (Debian: cmake, dpkg, dpkg-dev, binutils)")
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-package-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        done = subprocess.run(["cpack", "-G", "DEB", "--config", str(BUILD / "CPackConfig.cmake"), "-B", str(cls.folder / "made")],
                              capture_output=True, text=True, timeout=PACK_SECONDS, check=False, cwd=cls.folder)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        (cls.package,) = (cls.folder / "made").glob("*.deb")
        cls.tree, cls.control = cls.folder / "tree", cls.folder / "control"
        said("dpkg-deb", "--extract", str(cls.package), str(cls.tree))
        said("dpkg-deb", "--control", str(cls.package), str(cls.control))

    def field(self, name):
        return said("dpkg-deb", "--field", str(self.package), name).strip()

    def test_it_is_named_by_the_rules(self):
        project = re.search(r"^project\(tidemark VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        architecture = said("dpkg", "--print-architecture").strip()
        self.assertEqual(self.field("Package"), "tidemark")
        self.assertEqual(self.field("Version"), f"{project}-1")
        self.assertEqual(self.field("Architecture"), architecture)
        self.assertEqual(self.package.name, f"tidemark_{project}-1_{architecture}.deb")
        self.assertRegex(self.field("Maintainer"), r"^[^<>]+ <[^@\s]+@\S+>$")
        with gzip.open(self.tree / "usr/share/doc/tidemark/changelog.Debian.gz", "rt") as changelog:
            self.assertTrue(changelog.readline().startswith(f"tidemark ({project}-1) "))

    def test_it_needs_what_the_image_has(self):
        """The Dockerfile's list, which names packages without versions, and Debian's own libraries."""
        needed = {re.split(r"[ (:]", one.strip())[0] for one in self.field("Depends").split(",")}
        listed = set((ROOT / "deploy" / "Dockerfile").read_text().split("FROM")[-1].split())
        self.assertIn("libssl3", needed)
        self.assertIn("libopenblas0-serial", needed)  # the choice for libopenblas0
        self.assertLessEqual(needed - {"libc6", "libgcc-s1", "libstdc++6", "libopenblas0"}, listed)

    def test_everything_is_in_its_place(self):
        files = {str(path.relative_to(self.tree)) for path in self.tree.rglob("*") if not path.is_dir()}
        manuals = {f"usr/share/doc/tidemark/docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
        self.assertGreater(len(manuals), 10)
        self.assertEqual(files, manuals | {
            "usr/bin/tidemark", "usr/bin/tidetool", "lib/systemd/system/tidemark.service", "etc/tidemark/tidemark.yaml",
            "usr/share/doc/tidemark/copyright", "usr/share/doc/tidemark/changelog.gz",
            "usr/share/doc/tidemark/changelog.Debian.gz"})
        self.assertEqual((self.control / "conffiles").read_text(), "/etc/tidemark/tidemark.yaml\n")
        for line in said("dpkg-deb", "--contents", str(self.package)).splitlines():
            mode, owner, path = line.split()[0], line.split()[1], line.split()[-1]
            self.assertEqual(owner, "root/root", path)
            expected = "drwxr-xr-x" if mode[0] == "d" else "-rwxr-xr-x" if "/bin/" in path else "-rw-r--r--"
            self.assertEqual(mode, expected, path)
        with gzip.open(self.tree / "usr/share/doc/tidemark/changelog.gz", "rt", encoding="utf-8") as changelog:
            self.assertEqual(changelog.read(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
        for line in (self.control / "md5sums").read_text().splitlines():
            self.assertTrue((self.tree / line.split(None, 1)[1]).is_file(), line)

    def test_the_programs_run_from_it(self):
        for program in ("tidemark", "tidetool"):
            path = str(self.tree / "usr/bin" / program)
            self.assertEqual(said(path, "--version"), said(str(BUILD / "bin" / program), "--version"))
            self.assertNotIn("not found", said("ldd", path))
            # Stripped, and it looks for libraries where Debian has them.
            self.assertNotIn(".debug_info", said("readelf", "-SW", path))
            self.assertNotRegex(said("readelf", "-dW", path), r"\((RPATH|RUNPATH)\)")

    def test_the_configuration_in_it_is_good(self):
        config = self.tree / "etc/tidemark/tidemark.yaml"
        said(str(self.tree / "usr/bin/tidetool"), "check-config", str(config))
        binary, programs.BINARY = programs.BINARY, str(self.tree / "usr/bin/tidemark")
        try:
            with Daemon(config.read_text(encoding="utf-8")) as daemon:
                self.assertEqual(daemon.get("/-/ready")[0], 200)
        finally:
            programs.BINARY = binary

    def test_the_unit_finds_what_the_package_has(self):
        unit = (self.tree / "lib/systemd/system/tidemark.service").read_text()
        program, *arguments = re.search(r"^ExecStart=(.+)$", unit, re.MULTILINE)[1].split()
        self.assertTrue((self.tree / program.lstrip("/")).is_file())
        given = dict(argument.split("=", 1) for argument in arguments)
        self.assertTrue((self.tree / given["--config.file"].lstrip("/")).is_file())
        state = re.search(r"^StateDirectory=(.+)$", unit, re.MULTILINE)[1]
        self.assertEqual(given["--storage.path"], f"/var/lib/{state}")
        known = said(str(self.tree / program.lstrip("/")), "--help")
        for flag in given:
            self.assertIn(flag + "=", known)
        self.assertTrue(re.search(r"^WantedBy=multi-user\.target$", unit, re.MULTILINE))

    def script(self, name, *arguments, systemd, was_enabled=True):
        """(what the script called, the root that it worked on): with other commands and another root than the system's."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        commands = root / "commands"
        commands.mkdir()
        for command in ("deb-systemd-helper", "deb-systemd-invoke", "systemctl"):
            path = commands / command
            path.write_text(f'#!/bin/sh\necho "{command} $*" >>"{root}/called"\n'
                            f'case "$*" in *was-enabled*) exit {0 if was_enabled else 1} ;; esac\n')
            path.chmod(0o755)
        (root / "called").touch()
        (root / "run/systemd").mkdir(parents=True)
        if systemd:
            (root / "run/systemd/system").mkdir()
        for state in ("var/lib/private/tidemark/journal", "var/lib/private/other", "etc/tidemark"):
            (root / state).mkdir(parents=True)
        (root / "var/lib/tidemark").symlink_to("private/tidemark")
        text = re.sub(r"(?<=\s)/(run|var)/", lambda found: f"{root}/{found[1]}/", (self.control / name).read_text())
        # Nothing of the system is left in it but the shell.
        self.assertEqual(set(re.findall(r"(?<![\w$./])/\w[\w/]*", text.replace(str(root), "ROOT"))) - {"/dev/null", "/bin/sh"}, set())
        copy = root / name
        copy.write_text(text)
        done = subprocess.run(["sh", str(copy), *arguments], capture_output=True, text=True, check=False,
                              env={"PATH": f"{commands}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return (root / "called").read_text().splitlines(), root

    def test_maintainer_scripts_are_scripts(self):
        for name in ("postinst", "prerm", "postrm"):
            path = self.control / name
            self.assertTrue(path.stat().st_mode & stat.S_IXUSR, name)
            self.assertTrue(path.read_text().startswith("#!/bin/sh\n"))
            self.assertIn("\nset -e\n", path.read_text())
            said("sh", "-n", str(path))

    def test_installing_enables_and_starts_it(self):
        called, _ = self.script("postinst", "configure", "", systemd=True)
        self.assertIn("deb-systemd-helper enable tidemark.service", called)
        self.assertEqual(called[-2:], ["systemctl --system daemon-reload", "deb-systemd-invoke start tidemark.service"])
        called, _ = self.script("postinst", "configure", "0.0.9-1", systemd=True)
        self.assertEqual(called[-1], "deb-systemd-invoke restart tidemark.service")

    def test_who_has_disabled_it_keeps_it_so(self):
        called, _ = self.script("postinst", "configure", "0.0.9-1", systemd=True, was_enabled=False)
        self.assertNotIn("deb-systemd-helper enable tidemark.service", called)
        self.assertIn("deb-systemd-helper update-state tidemark.service", called)

    def test_without_systemd_nothing_is_started_or_stopped(self):
        for script in (("postinst", "configure", ""), ("prerm", "remove"), ("postrm", "remove")):
            called, _ = self.script(*script, systemd=False)
            self.assertFalse([line for line in called if not line.startswith("deb-systemd-helper ")], script)

    def test_removing_stops_it_and_keeps_the_state(self):
        self.assertEqual(self.script("prerm", "remove", systemd=True)[0], ["deb-systemd-invoke stop tidemark.service"])
        self.assertEqual(self.script("prerm", "upgrade", "0.2.0-1", systemd=True)[0], [])
        called, root = self.script("postrm", "remove", systemd=True)
        self.assertIn("systemctl --system daemon-reload", called)
        self.assertTrue((root / "var/lib/tidemark/journal").is_dir())

    def test_purging_takes_the_state_and_nothing_else(self):
        called, root = self.script("postrm", "purge", systemd=True)
        self.assertIn("deb-systemd-helper purge tidemark.service", called)
        self.assertEqual([path.name for path in (root / "var/lib").iterdir()], ["private"])
        self.assertEqual([path.name for path in (root / "var/lib/private").iterdir()], ["other"])


if __name__ == "__main__":
    unittest.main()
