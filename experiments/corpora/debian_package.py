"""Data from Debian packages: downloads a package, checks that it is the recorded one, unpacks it, and compares the files built from it."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import NamedTuple

from softalign_tools.files import write


class Package(NamedTuple):
    name: str
    version: str
    sha256: str
    content: str  # the file or folder that we need from it


class BuildError(Exception):
    """Raised for wrong or missing input; the message names the remedy."""


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def download(package: Package, folder: Path, newer: bool = False) -> Path:
    """Downloads the package's .deb file from the archive that apt-get is set up for. newer: whatever version it has. Raises BuildError."""
    wanted = package.name if newer else f"{package.name}={package.version}"
    ended = subprocess.run(["apt-get", "-q", "download", wanted], cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise BuildError(
            f"apt-get download {wanted} failed ({ended.stderr.strip()}); it is in Debian 12 and at snapshot.debian.org: "
            "run apt-get update, or give the .deb file as an argument"
        )
    return next(folder.glob(f"{package.name}_*.deb"))


def unpack(package: Package, deb: Path, folder: Path) -> Path:
    """Checks a .deb file, unpacks it and returns the path of its content. Raises BuildError."""
    if not deb.is_file():
        raise BuildError(f"{deb}: no such file; it should be {package.name} {package.version}")
    if sha256(deb) != package.sha256:
        raise BuildError(f"{deb}: SHA-256 is {sha256(deb)}, not that of {package.name} {package.version} ({package.sha256})")
    subprocess.run(["dpkg-deb", "--extract", deb, folder], check=True)
    return folder / package.content


def version_of(deb: Path) -> str:
    return subprocess.run(["dpkg-deb", "--field", deb, "Version"], capture_output=True, text=True, check=True).stdout.strip()


def write_gzip(text: str, file: Path, force: bool = False) -> None:
    """Writes a text compressed by GNU gzip, whose output, unlike zlib's, has not changed in years. Raises the errors of softalign_tools.files.write."""
    packed = subprocess.run(["gzip", "-n9"], input=text.encode("utf-8"), stdout=subprocess.PIPE, check=True)
    write(file, packed.stdout, force)


def differing(folder: Path, sums: Path) -> list[str]:
    """Returns the files of a SHA256SUMS list that are missing from `folder` or have other bytes."""
    recorded = (line.split() for line in sums.read_text(encoding="ascii").splitlines())
    return [name for digest, name in recorded if not (folder / name).is_file() or sha256(folder / name) != digest]
