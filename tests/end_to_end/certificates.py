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

    def issue(self, name, sans="", days=2, organisations=(), usage=None, valid=None):
        """Paths of a new certificate and its key. `sans` and `usage` (extendedKeyUsage) as openssl writes them. `valid`: from
        and until when, in seconds of Unix time, instead of `days` from now."""
        base = str(self.folder / f"{name.replace('/', '-')}-{time.monotonic_ns()}")
        extensions = base + ".cnf"
        lines = [f"subjectAltName={sans}"] if sans else []
        lines += [f"extendedKeyUsage={usage}"] if usage else []
        pathlib.Path(extensions).write_text("\n".join(lines) + "\n")
        subject = "".join(f"/O={organisation}" for organisation in organisations) + f"/CN={name}"
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
                "-keyout", base + ".key", "-out", base + ".csr")
        if valid:
            self._sign_for(valid, base, extensions)
        else:
            openssl("x509", "-req", "-in", base + ".csr", "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                    "-days", str(days), "-extfile", extensions, "-out", base + ".crt")
        return base + ".crt", base + ".key"

    def _sign_for(self, valid, base, extensions):
        """Only `openssl ca`, which wants files of its own, takes times."""
        pathlib.Path(base + ".txt").touch()
        pathlib.Path(base + ".ca").write_text(
            f"[ca]\ndefault_ca=it\n[it]\ndatabase={base}.txt\nnew_certs_dir={self.folder}\nrand_serial=yes\n"
            "default_md=sha256\npolicy=any\npreserve=yes\n[any]\norganizationName=optional\ncommonName=optional\n")
        begin, end = (time.strftime("%Y%m%d%H%M%SZ", time.gmtime(at)) for at in valid)
        openssl("ca", "-batch", "-notext", "-config", base + ".ca", "-cert", self.certificate, "-keyfile", self.key,
                "-in", base + ".csr", "-out", base + ".crt", "-startdate", begin, "-enddate", end, "-extfile", extensions)


def replace(path, content):
    """Writes the file whole, as a mounted secret changes."""
    temporary = str(path) + ".new"
    pathlib.Path(temporary).write_text(content)
    os.rename(temporary, path)
