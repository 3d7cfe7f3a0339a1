"""The golden model compiled ahead of time by mypyc, from the same sources.

Optional: without mypyc, or if the build fails, the plain Python modules are used and one line of
the log says so.  Builds lie in the cache under the hash of the sources and of the versions of
mypyc and Python, so code of other sources is never loaded.

    python -m racetrap.sim.cosim.verilator.compiled MODULE [ARGUMENT ...]

runs a module as ``python -m MODULE`` does, on the compiled model.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import logging
import runpy
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

import racetrap
import racetrap.golden_model
from racetrap.sim.content_cache import cache_folder, content_key, keep
from racetrap.sim.cosim.verilator.build_cache import BuildError, run_tool

__all__ = ["build_compiled", "is_compiled", "main", "use_compiled"]

_PACKAGE = "racetrap.golden_model"
#: Modules of it in which the time goes, and what they build on.
_MODULES = (
    "scord.barrier_ids", "scord.bloom_filter", "scord.detection_logic_packed",
    "scord.detector_bank", "scord.fence_file", "scord.interleaver", "scord.lock_hash",
    "scord.lock_table", "scord.metadata", "scord.packets", "scord.tracker",
    "sigrace.address_set", "sigrace.bit_stream", "sigrace.block", "sigrace.compressor",
    "sigrace.conflict_log", "sigrace.core_to_thread", "sigrace.core_unit", "sigrace.decompressor",
    "sigrace.history_queue", "sigrace.packets", "sigrace.rdm", "sigrace.signature",
    "sigrace.timestamp",
)  # fmt: skip
_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
_SETUP = """\
from mypyc.build import mypycify
from setuptools import setup

setup(name="compiled", ext_modules=mypycify({files}, opt_level="3"))
"""

_log = logging.getLogger(__name__)


class _Finder(MetaPathFinder):
    """Finds the modules of a build, before Python finds their sources."""

    def __init__(self, folder: Path):
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        file = self._folder.joinpath(*name.split(".")).with_suffix(_SUFFIX)
        return importlib.util.spec_from_file_location(name, file) if file.exists() else None


def build_compiled() -> Path | None:
    """Compile the golden model, or find it in the cache; a build takes some ten seconds.

    Returns
    -------
    Path or None
        Folder of the build; None, and a line in the log, if it cannot be made.
    """
    try:
        tools = [version("mypy"), version("setuptools"), sys.version]
    except PackageNotFoundError as missing:
        _log.warning("Golden model runs as plain Python: package %s is missing", missing.name)
        return None
    root = Path(racetrap.golden_model.__path__[0])
    key = content_key(tools, _MODULES, _SETUP, files=sorted(root.rglob("*.py")))
    folder = cache_folder() / "compiled" / key
    try:
        keep(folder, lambda unfinished: _compile(root, unfinished))
    except BuildError as error:
        _log.warning("Golden model runs as plain Python: %s", error)
        return None
    return folder


def _compile(root: Path, folder: Path) -> None:
    """Compile copies of the sources, in folders named as their packages are imported."""
    package = folder / "racetrap"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root, package / "golden_model", ignore=ignored)
    shutil.copy(Path(racetrap.__path__[0]) / "__init__.py", package)
    files = [f"{_PACKAGE}.{name}".replace(".", "/") + ".py" for name in _MODULES]
    setup = _SETUP.format(files=["--follow-imports=silent", *files])
    (folder / "setup.py").write_text(setup, encoding="utf-8")
    run_tool([sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"], folder)


def use_compiled() -> bool:
    """Let later imports of the golden model give the compiled modules.

    Returns
    -------
    bool
        Whether they do; if not, the plain modules are used.

    Raises
    ------
    RuntimeError
        If one of the modules has been imported already.
    """
    early = sorted(name for name in _MODULES if f"{_PACKAGE}.{name}" in sys.modules)
    if early:
        raise RuntimeError(f"Module {early[0]} must be imported after the switch, not before")
    folder = build_compiled()
    if folder is None:
        return False
    sys.meta_path.insert(0, _Finder(folder))
    return True


def is_compiled() -> bool:
    """Whether the golden model that this process uses is the compiled one."""
    modules = [sys.modules.get(f"{_PACKAGE}.{name}") for name in _MODULES]
    files = [module.__file__ or "" for module in modules if module is not None]
    return bool(files) and all(file.endswith(_SUFFIX) for file in files)


def main(arguments: Sequence[str]) -> None:
    """Run a module, the first of ``arguments``, on the compiled model."""
    use_compiled()
    sys.argv = list(arguments)
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
