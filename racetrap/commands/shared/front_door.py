"""Dispatch of `racetrap FILE`: recognises FILE and runs the command that suits it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from racetrap.golden_model.checks import unknown_name

_CUDA, _PTX = ".cu", ".ptx"
_HEAD = 1 << 12
_COMMENT_OR_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_MAIN = re.compile(r"\bmain\s*\(")


class Row(NamedTuple):
    """Kind of FILE, short and long, the command to run, and its exit status."""

    file: str
    which: str
    command: str
    status: str


_FINDINGS = "0 clean, 1 findings"
#: The table of `racetrap --help` and of the documentation.
TABLE = (
    Row(
        "CUDA program", "source with `main`, several sources and objects, or a program built by "
        "`racetrap nvcc`", "run", _FINDINGS,
    ),
    Row(
        "kernel", "`.cu` without `main`, or `.ptx`, with its launch file as the next argument, "
        "or next to it under the same name", "check", _FINDINGS,
    ),
    Row("trace", "of a GPU, of threads, or of a driver and its accelerators", "check", _FINDINGS),
    Row(
        "C or C++ program", "one source or several, or a program built by `racetrap cc`",
        "trace record, then check --exact", _FINDINGS,
    ),
    Row("litmus test", "one file or several", "litmus", "0 as expected, 1 not"),
    Row("name of a preset", "no file", "presets", "0"),
)  # fmt: skip
_GIVE = (
    "give a CUDA program, a kernel with its launch file, a trace, C or C++ sources, a litmus test, "
    "or a preset's name; `racetrap --help` has the table"
)

#: Pseudo-command that records and checks.
RECORD_AND_CHECK = "record-and-check"


def command_of(words: Sequence[str], commands: Collection[str]) -> list[str] | None:
    """Command line for `racetrap FILE ...`; ``None`` if the first word is no file, no preset, and
    not nearer to a preset's name than to one of ``commands``.

    Raises
    ------
    ValueError
        If a file is of no accepted kind.
    OSError
        If it cannot be read.
    """
    first = words[0]
    path = Path(first)
    if first == "-":
        return ["check", *words]
    if not path.exists():
        if _is_preset(first):
            return ["presets", *words]
        if path.suffix and not first.startswith("-"):
            raise ValueError(f"{first}: No such file, command or preset")
        _refuse_near_preset(first, commands)
        return None
    if path.is_dir():
        raise ValueError(f"{first} is a folder: {_GIVE}")
    others = [word for word in words[1:] if word.endswith(_CUDA)]
    if others or path.suffix in (".o", ".a"):
        return ["run", *words]
    if path.suffix == _CUDA:
        return _cuda(words)
    if path.suffix == _PTX:
        return _kernel(words, "PTX kernel")
    from racetrap.sim.cpu.compiler import SUFFIXES

    if path.suffix in SUFFIXES:
        return [RECORD_AND_CHECK, *words]
    return _by_content(words)


def _refuse_near_preset(name: str, commands: Collection[str]) -> None:
    from racetrap.generators.presets import PRESETS

    near = get_close_matches(name, [*commands, *PRESETS], n=1)
    if near and near[0] not in commands:
        raise ValueError(unknown_name("preset", name, PRESETS))


def _is_preset(name: str) -> bool:
    try:
        from racetrap.generators.presets import find_preset  # slow to import

        find_preset(name)
    except (ValueError, ModuleNotFoundError):
        return False
    return True


def _cuda(words: Sequence[str]) -> list[str]:
    if has_main(Path(words[0])):
        return ["run", *words]
    return _kernel(words, "CUDA kernel, without `main`,")


def has_main(path: Path) -> bool:
    """Whether a CUDA source has the function `main`, outside comments and strings."""
    source = path.read_text(encoding="utf-8", errors="replace")
    return _MAIN.search(_COMMENT_OR_TEXT.sub(" ", source)) is not None


def _kernel(words: Sequence[str], what: str) -> list[str]:
    kernel, *rest = words
    if rest and rest[0].endswith(".toml"):
        return ["check", kernel, "--launch", *rest]
    beside = Path(kernel).with_suffix(".toml")
    if "--launch" in rest or beside.is_file():
        return ["check", *words]
    raise ValueError(
        f"{kernel} is a {what} without a launch file: write {beside} next to it, or give "
        f"another as `racetrap {kernel} LAUNCH.toml` (docs/kernels.md)"
    )


def _by_content(words: Sequence[str]) -> list[str]:
    path = Path(words[0])
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(b"\x7fELF"):
        return _binary(words)
    if head.lstrip(b"\xef\xbb\xbf").startswith(b"PTX ") or path.suffix == ".litmus":
        return ["litmus", *words]
    # NumPy is slow to import.
    from racetrap.golden_model.trace.container.container import MAGIC
    from racetrap.golden_model.trace.noncoherent.thesis_text import is_thesis_text

    if head.startswith((MAGIC, b"racetrap-trace")) or (_is_text(head) and is_thesis_text(path)):
        return ["check", *words]
    raise ValueError(f"{path} looks like {_look(path, head)}: {_GIVE}")


def _binary(words: Sequence[str]) -> list[str]:
    from racetrap.sim.cpu.unsupported import RUNTIME_SYMBOL

    data = Path(words[0]).read_bytes()
    if b"libcudart.so" in data:
        return ["run", *words]
    if RUNTIME_SYMBOL.encode() in data:
        return [RECORD_AND_CHECK, *words]
    raise ValueError(
        f"{words[0]} looks like a program that racetrap has not built: build it with `racetrap cc` "
        "or `racetrap c++`, or a CUDA program with `racetrap nvcc`"
    )


def _is_text(head: bytes) -> bool:
    return b"\0" not in head


def _look(path: Path, head: bytes) -> str:
    """Description of the apparent kind of a file."""
    if not head:
        return "an empty file"
    if head.startswith(b"\x1f\x8b"):
        return f"compressed data (`zcat {path} | racetrap check -` checks a trace in it)"
    if path.suffix == ".toml":
        return "a launch file, whose kernel comes before it, or the file of `racetrap sweep`"
    if path.suffix == ".replay":
        return "the witness of `racetrap stress KERNEL --replay FILE`"
    names = {".py": "a Python script", ".json": "JSON", ".v": "Verilog", ".h": "a header"}
    return names.get(path.suffix) or ("a text" if _is_text(head) else "binary data")
