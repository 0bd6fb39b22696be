"""Certificate authorities of the tests' own, by openssl, and files that change as mounted secrets do."""

import os
import pathlib
import subprocess
import time


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder)
        self.certificate = str(self.folder / f"{name}.crt")
        self.key = str(self.folder / f"{name}.key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    def issue(self, name, sans="", days=2, organisations=(), usage=None):
        """Paths of a new certificate and its key. `sans` and `usage` (extendedKeyUsage) as openssl writes them."""
        base = str(self.folder / f"{name.replace('/', '-')}-{time.monotonic_ns()}")
        extensions = base + ".cnf"
        lines = [f"subjectAltName={sans}"] if sans else []
        lines += [f"extendedKeyUsage={usage}"] if usage else []
        pathlib.Path(extensions).write_text("\n".join(lines) + "\n")
        subject = "".join(f"/O={organisation}" for organisation in organisations) + f"/CN={name}"
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
                "-keyout", base + ".key", "-out", base + ".csr")
        openssl("x509", "-req", "-in", base + ".csr", "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-days", str(days), "-extfile", extensions, "-out", base + ".crt")
        return base + ".crt", base + ".key"


def replace(path, content):
    """Writes the file whole, as a mounted secret changes."""
    temporary = str(path) + ".new"
    pathlib.Path(temporary).write_text(content)
    os.rename(temporary, path)
