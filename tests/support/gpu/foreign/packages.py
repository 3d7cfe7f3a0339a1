"""Packages of Debian and PyPI with CUDA sources, fetched into a folder by their usual clients."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tests.foreign_builds import fetch_upstream

_FETCH_SECONDS = 600


@dataclass(frozen=True)
class CudaPackage:
    """A package with CUDA sources.

    Parameters
    ----------
    name : str
        Its name.
    origin : str
        ``Debian``, ``Debian's sources`` or ``PyPI``.
    includes : tuple of str
        Folders in it whose headers programs include.
    options : tuple of str
        Further options of the compiler.
    version : str
        Version of a package of PyPI; Debian has one.
    """

    name: str
    origin: str
    includes: tuple[str, ...]
    options: tuple[str, ...] = ()
    version: str = ""

    def fetch(self, folder: Path) -> str:
        """Bring the package into a folder, unpacked; its version.

        Raises
        ------
        OSError, subprocess.SubprocessError, Failure
            If it cannot be had.
        """
        return _FETCHERS[self.origin](self, folder)


def _run(*command: str, folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, timeout=_FETCH_SECONDS
    )
    return done.stdout


def _debian(package: CudaPackage, folder: Path) -> str:
    _run("apt-get", "download", "-q", package.name, folder=folder)
    (file,) = folder.glob("*.deb")
    _run("dpkg-deb", "-x", str(file), str(folder), folder=folder)
    return _run("dpkg-deb", "-f", str(file), "Version", folder=folder).strip()


def _debian_sources(package: CudaPackage, folder: Path) -> str:
    file = fetch_upstream(package.name, folder)
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    return file.name.partition("_")[2].partition(".orig.")[0]


def _pypi(package: CudaPackage, folder: Path) -> str:
    _run(
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
        f"{package.name}=={package.version}", folder=folder,
    )  # fmt: skip
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
    return package.version


_FETCHERS = {"Debian": _debian, "Debian's sources": _debian_sources, "PyPI": _pypi}
