"""Compiler of unmodified C and C++ sources for recording, linked with the runtime.

Sources are compiled as for the compiler's own race detector, with a call at every access and
every basic block, but linked with our runtime in the place of the compiler's.  The compiler's
driver does all that it does for others, so that any build can use it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from racetrap.sim.content_cache import cache_folder, keep
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.gnu_tools import run_tool

__all__ = ["RUNTIME", "SUFFIXES", "compile_program", "driver_command", "runtime_hash"]

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

#: Options that put the calls into the code, for the compiler proper: the driver would link its own
#: runtime, too.
_INSTRUMENT = (
    "-fsanitize=thread", "-fsanitize-coverage=trace-pc",
    # Else accesses that the compiler turns into such functions, or expands, are not seen.
    *(f"-fno-builtin-{name}" for name in _WRAPPED), "-fno-tree-loop-distribute-patterns",
    "-Wno-tsan",  # fences are recorded by our runtime
)  # fmt: skip
#: Options for the driver, before and after the user's own.
_BEFORE = ("-g", "-O2", "-pthread")
_AFTER = ("-U_FORTIFY_SOURCE",)  # its functions have other names
_FIRST = (
    "-fno-pie",  # code and static data lie at the same place in every run
    "-DRACETRAP_RECORDING",
)
_COMPILE_RUNTIME = (
    "-c", "-O2", "-fno-pie", "-fno-builtin", "-mcx16", "-ftls-model=local-exec",
    "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra", "-Werror",
)  # fmt: skip
_LINK = (
    "--export-dynamic",  # shared libraries must find our functions, too
    *(f"--wrap={name}" for name in _WRAPPED),
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


def _driver_folder() -> Path:
    """Folder with the runtime's object files and ``specs``, made once.

    The driver reads the file of specs, and passes our options on to the compiler proper and to
    the linker: whatever the user asks of it, it does with our calls in the code.
    """
    folder = (cache_folder() / "recorder" / runtime_hash()[:16]).resolve()

    def make(unfinished: Path) -> None:
        unfinished.mkdir()
        objects = []
        for source in sorted(RUNTIME.glob("*.c")):
            run_tool(
                ["gcc", *_COMPILE_RUNTIME, str(source), "-o", str(unfinished / f"{source.stem}.o")],
                "Runtime of the recorder cannot be compiled",
            )
            objects.append(str(folder / f"{source.stem}.o"))
        # Shared libraries and parts of programs get the runtime from the program.
        only_programs = "+ %{{!shared:%{{!r:{}}}}}"
        (unfinished / "specs").write_text(
            f"*cc1_options:\n+ {' '.join(_INSTRUMENT)}\n\n"
            f"*link:\n{only_programs.format(' '.join(_LINK))}\n\n"
            f"*lib:\n{only_programs.format(' '.join(objects))}\n\n"
        )

    return keep(folder, make)


def driver_command(compiler: str, arguments: Sequence[str]) -> list[str]:
    """Command of a compiler whose programs can be recorded.

    Parameters
    ----------
    compiler : str
        ``"gcc"`` or ``"g++"``.
    arguments : sequence of str
        What the user asks of it.

    Raises
    ------
    RecordError
        If the runtime cannot be compiled.
    """
    is_program = not {"-shared", "-r", "-c", "-S", "-E"}.intersection(arguments)
    return [
        compiler, f"-specs={_driver_folder() / 'specs'}", *_FIRST, *arguments,
        f"-I{RUNTIME}", "-g", "-fno-lto", *_AFTER, *(("-no-pie",) if is_program else ()),
    ]  # fmt: skip


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
        If a source is missing or of another language, or the compiler is missing or refuses it.
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
            driver_command(
                "g++" if source.suffix in _CXX else "gcc",
                [*_BEFORE, "-c", *(f"-I{path}" for path in include), *options,
                 str(source), "-o", str(target)],
            ),
            f"Source {source} cannot be compiled",
        )  # fmt: skip
        objects.append(str(target))
    needs_cxx = any(source.suffix in _CXX for source in sources)
    program = folder / "program"
    run_tool(
        driver_command(
            "g++" if needs_cxx else "gcc",
            ["-pthread", *objects, *options, "-lm", "-o", str(program)],
        ),
        "Program cannot be linked",
    )
    return program
