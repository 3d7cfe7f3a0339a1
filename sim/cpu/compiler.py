"""Compiler of unmodified C and C++ sources for recording, linked with the runtime.

Sources are compiled as for the compiler's own race detector, with a call at every access and
every basic block, but linked with our runtime in the place of the compiler's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.sim.content_cache import cache_folder, keep
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.gnu_tools import run_tool
from racetrap.sim.cpu.unsupported import check_objects

__all__ = ["RUNTIME", "SUFFIXES", "THREADS", "Runtime", "compile_program", "runtime_hash"]

#: Folder of the runtime's sources, and of the header that programs may include.
RUNTIME = Path(__file__).parent / "runtime"

_C, _CXX = (".c",), (".cpp", ".cc", ".cxx")
SUFFIXES = _C + _CXX

#: Functions of the C library whose accesses the runtime records.
_WRAPPED = (
    "bzero", "memchr", "memcmp", "memcpy", "memmove", "mempcpy", "memset", "stpcpy", "strcat",
    "strchr", "strcmp", "strcpy", "strdup", "strlen", "strncat", "strncmp", "strncpy", "strrchr",
)  # fmt: skip

_COMPILE = (
    "-c", "-g", "-O2", "-pthread",
    "-fno-pie",  # code and static data lie at the same place in every run
    "-fsanitize=thread",
    # Else accesses that the compiler turns into such functions, or expands, are not seen.
    *(f"-fno-builtin-{name}" for name in _WRAPPED), "-fno-tree-loop-distribute-patterns",
    "-Wno-tsan",  # fences are recorded by our runtime
    "-DRACETRAP_RECORDING",
)  # fmt: skip
_COMPILE_RUNTIME = (
    "-c", "-O2", "-fno-pie", "-fno-builtin", "-mcx16", "-ftls-model=local-exec",
    "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra", "-Werror",
)  # fmt: skip
_LINK = (
    "-no-pie",
    "-pthread",
    "-rdynamic",  # shared libraries must find our functions, too
    *(f"-Wl,--wrap={name}" for name in _WRAPPED),
)


@dataclass(frozen=True)
class Runtime:
    """What stands in the place of the compiler's own runtime in an instrumented program.

    Parameters
    ----------
    sources : tuple of Path
        C files of the runtime; ``guards.c`` is linked into programs in C++ only.
    files : tuple of Path
        All files that it depends on.
    include : tuple of Path
        Folders of the headers that programs may include.
    options : tuple of str
        Options of the compiler for the program's own sources.
    refused : tuple of (str, str)
        Patterns of functions that it cannot follow, besides those that no runtime can, with why.
    """

    sources: tuple[Path, ...]
    files: tuple[Path, ...]
    include: tuple[Path, ...]
    options: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


#: The runtime that records threads.
THREADS = Runtime(
    sources=tuple(sorted(RUNTIME.glob("*.c"))),
    files=tuple(sorted(RUNTIME.glob("*.[ch]"))),
    include=(RUNTIME,),
    options=("-fsanitize-coverage=trace-pc",),
)
#: What decides, besides the runtime, what a recorded trace is.
_MODULES = ("compiler", "instruction_counts", "interleave", "locations", "raw", "recorder")


def runtime_hash() -> str:
    """Hash of what the recorder of threads is made of: its runtime's sources, and its own."""
    own = [Path(__file__).parent / f"{name}.py" for name in _MODULES]
    return _hash_of((*THREADS.files, *own))


def _hash_of(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _runtime_objects(runtime: Runtime, needs_cxx: bool) -> list[str]:
    """Object files of a runtime, compiled once."""
    folder = cache_folder() / "recorder" / _hash_of((*runtime.files, Path(__file__)))[:16]

    def compile_all(unfinished: Path) -> None:
        unfinished.mkdir()
        for source in runtime.sources:
            target = unfinished / f"{source.stem}.o"
            run_tool(
                ["gcc", *_COMPILE_RUNTIME, str(source), "-o", str(target)],
                "Runtime of the recorder cannot be compiled",
            )

    keep(folder, compile_all)
    return [
        str(folder / f"{source.stem}.o")
        for source in runtime.sources
        if needs_cxx or source.stem != "guards"
    ]


def compile_program(
    sources: Sequence[Path],
    folder: Path,
    include: Sequence[Path],
    options: Sequence[str],
    runtime: Runtime = THREADS,
) -> Path:
    """Compile and link a program for recording.

    Parameters
    ----------
    sources : sequence of Path
        C and C++ files.
    folder : Path
        Where object files and the program go.
    include : sequence of Path
        Folders of header files.
    options : sequence of str
        Options for the compiler, after ours, and for the linker.
    runtime : Runtime
        What the program is linked with.

    Raises
    ------
    RecordError
        If a source is missing or of another language, the compiler is missing or refuses it, or
        the program uses what cannot be recorded.
    """
    if not sources:
        raise RecordError("Sources must be at least one file")
    for source in sources:
        if source.suffix not in SUFFIXES:
            raise RecordError(f"Source must end in {', '.join(SUFFIXES)}, not be {source}")
        if not source.is_file():
            raise RecordError(f"Source {source} was not found")
    objects = []
    for number, source in enumerate(sources):
        target = folder / f"{number}.o"
        run_tool(
            [
                "g++" if source.suffix in _CXX else "gcc", *_COMPILE, *runtime.options,
                *(f"-I{path}" for path in (*include, *runtime.include)), *options,
                str(source), "-o", str(target),
            ],
            f"Source {source} cannot be compiled",
        )  # fmt: skip
        objects.append(str(target))
    check_objects(objects, runtime.refused)
    needs_cxx = any(source.suffix in _CXX for source in sources)
    program = folder / "program"
    run_tool(
        [
            "g++" if needs_cxx else "gcc", *_LINK, *objects,
            *_runtime_objects(runtime, needs_cxx), *options, "-lm", "-o", str(program),
        ],
        "Program cannot be linked",
    )  # fmt: skip
    return program
