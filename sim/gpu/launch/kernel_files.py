"""Kernels of our own: CUDA sources with their PTX kept beside them.

``python -m racetrap.sim.gpu.launch.kernel_files [PACKAGE]...`` compiles all of them again, and
those of other packages (``make kernels``).
"""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path

from racetrap.sim.gpu.launch.nvrtc import ARCHITECTURE, CudaError, compile_cuda
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.ptx.parser import parse_ptx

#: Packages that hold CUDA sources.
PACKAGES = (
    "racetrap.sim.gpu.workloads",
    "racetrap.sim.gpu.suites.concurrency",
    "racetrap.sim.gpu.suites.weak_memory",
)

#: End of the names of sources that need more than the oldest architecture: its number.
_ARCHITECTURE = re.compile(r"_sm(\d+)$")
#: Folder of a file that PTX names.
_FOLDER = re.compile(r'(\.file\s+\d+\s+")[^"]*/')


def kernel_folder(package: str) -> Path:
    """Folder of a package's kernels."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"Package {package} cannot be imported")
    return Path(spec.submodule_search_locations[0])


def kernel_sources(*others: str) -> list[Path]:
    """Every CUDA source of Racetrap, and those of other packages."""
    return [
        path for name in (*PACKAGES, *others) for path in sorted(kernel_folder(name).glob("*.cu"))
    ]


def compile_kernels(source: Path) -> str:
    """PTX of a CUDA source file, which may include the ``.cuh`` files beside it.

    Raises
    ------
    CudaError
        If it does not compile.
    """
    headers = {path.name: path.read_text(encoding="utf-8") for path in source.parent.glob("*.cuh")}
    number = _ARCHITECTURE.search(source.stem)
    architecture = f"compute_{number[1]}" if number else ARCHITECTURE
    text = source.read_text(encoding="utf-8")
    ptx = compile_cuda(text, source.name, headers=headers, architecture=architecture)
    return _FOLDER.sub(r"\1", ptx)


@cache
def load_kernels(package: str, stem: str) -> Module:
    """The kept PTX of ``stem``.cu, parsed once in a process.

    Parameters
    ----------
    package : str
        Package that holds it, such as one of ``PACKAGES``.
    stem : str
        File name without suffix.

    Raises
    ------
    FileNotFoundError
        If there is no such PTX.
    """
    path = kernel_folder(package) / f"{stem}.ptx"
    return parse_ptx(path.read_text(encoding="utf-8"), path.name)


def main(*others: str) -> None:
    """Write the PTX of every CUDA source, of other packages, too, beside it."""
    try:
        for source in kernel_sources(*others):
            kept = source.with_suffix(".ptx")
            kept.write_text(compile_kernels(source), encoding="utf-8")
            print(kept)
    except CudaError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main(*sys.argv[1:])
