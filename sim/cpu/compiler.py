"""Compiler of unmodified C and C++ sources for recording, linked with the runtime.

Sources are compiled as for the compiler's own race detector, with a call at every access and
every basic block, but linked with our runtime in the place of the compiler's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from racetrap.sim.content_cache import cache_folder, keep
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.gnu_tools import run_tool
from racetrap.sim.cpu.unsupported import check_objects

__all__ = ["RUNTIME", "SUFFIXES", "compile_program", "runtime_hash"]

#: Folder of the runtime's sources, and of the header that programs may include.
RUNTIME = Path(__file__).parent / "runtime"

_C, _CXX = (".c",), (".cpp", ".cc", ".cxx")
SUFFIXES = _C + _CXX

#: Functions of the C library whose accesses the runtime records.
_WRAPPED = (
    "atoi", "atol", "bzero", "dprintf", "fgets", "fprintf", "fputs", "fread", "fwrite", "getline",
    "memchr", "memcmp", "memcpy", "memmove", "mempcpy", "memrchr", "memset", "printf", "puts",
    "qsort", "snprintf", "sprintf", "stpcpy", "strcat", "strchr", "strchrnul", "strcmp", "strcpy",
    "strcspn", "strdup", "strlen", "strncat", "strncmp", "strncpy", "strndup", "strnlen",
    "strpbrk", "strrchr", "strspn", "strstr", "strtod", "strtol", "strtoll", "strtoul",
    "strtoull", "vdprintf", "vfprintf", "vprintf", "vsnprintf", "vsprintf",
)  # fmt: skip

_COMPILE = (
    "-c", "-g", "-O2", "-pthread",
    "-fno-pie",  # code and static data lie at the same place in every run
    "-fsanitize=thread", "-fsanitize-coverage=trace-pc",
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
#: What decides, besides the runtime, what a recorded trace is.
_MODULES = ("compiler", "instruction_counts", "interleave", "locations", "raw", "recorder")


def runtime_hash() -> str:
    """Hash of what the recorder is made of: its runtime's sources, and its own."""
    digest = hashlib.sha256()
    own = [Path(__file__).parent / f"{name}.py" for name in _MODULES]
    for path in (*sorted(RUNTIME.glob("*.[ch]")), *own):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _runtime_objects(needs_cxx: bool) -> list[str]:
    """Object files of the runtime, compiled once."""
    folder = cache_folder() / "recorder" / runtime_hash()[:16]
    sources = sorted(RUNTIME.glob("*.c"))

    def compile_all(unfinished: Path) -> None:
        unfinished.mkdir()
        for source in sources:
            target = unfinished / f"{source.stem}.o"
            run_tool(
                ["gcc", *_COMPILE_RUNTIME, str(source), "-o", str(target)],
                "Runtime of the recorder cannot be compiled",
            )

    keep(folder, compile_all)
    return [
        str(folder / f"{source.stem}.o")
        for source in sources
        if needs_cxx or source.stem != "guards"
    ]


def compile_program(
    sources: Sequence[Path], folder: Path, include: Sequence[Path], options: Sequence[str]
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
                "g++" if source.suffix in _CXX else "gcc", *_COMPILE,
                *(f"-I{path}" for path in (*include, RUNTIME)), *options,
                "-U_FORTIFY_SOURCE",  # its functions have other names
                str(source), "-o", str(target),
            ],
            f"Source {source} cannot be compiled",
        )  # fmt: skip
        objects.append(str(target))
    check_objects(objects)
    needs_cxx = any(source.suffix in _CXX for source in sources)
    program = folder / "program"
    run_tool(
        [
            "g++" if needs_cxx else "gcc", *_LINK, *objects,
            *_runtime_objects(needs_cxx), *options, "-lm", "-o", str(program),
        ],
        "Program cannot be linked",
    )  # fmt: skip
    return program
