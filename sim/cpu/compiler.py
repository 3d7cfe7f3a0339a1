"""Compiler of unmodified C and C++ sources for recording, linked with the runtime.

Sources are compiled as for the compiler's own race detector, with a call at every access and every
basic block, but linked with our runtime instead of the compiler's.  The compiler's driver otherwise
behaves as usual, so that any build can use it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from racetrap.sim.content_cache import cache_folder, content_key, keep
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.unsupported import check_objects
from racetrap.sim.gnu_tools import run_tool

#: Folder of the runtime's sources, and of the header that programs may include.
RUNTIME = Path(__file__).parent / "runtime"

_C, _CXX = (".c",), (".cpp", ".cc", ".cxx")
SUFFIXES = _C + _CXX

#: Options for the driver before the user's own, and after them.
_FIRST = (
    "-fno-pie",  # code and static data have the same addresses in every run
    "-DRACETRAP_RECORDING",
)
_LAST = ("-g", "-fno-lto", "-U_FORTIFY_SOURCE")  # its functions have other names
#: The runtime's objects as one file.
_LINKED = "runtime.o"
#: Optimisation of sources if the user's options set none.
OPTIMISATION = "-O2"
_COMPILE = ("-c", OPTIMISATION, "-pthread")
_COMPILE_RUNTIME = (
    "-c", "-O2", "-fno-pie", "-fno-builtin", "-mcx16", "-ftls-model=local-exec",
    "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra", "-Werror",
)  # fmt: skip


@dataclass(frozen=True)
class Runtime:
    """Replacement of the compiler's own runtime in an instrumented program.

    Parameters
    ----------
    sources : tuple of Path
        C files of the runtime.
    files : tuple of Path
        All files that it depends on.
    include : tuple of Path
        Folders of the headers that programs may include.
    options : tuple of str
        Options of the compiler for the program's own sources.
    refused : tuple of (str, str)
        Patterns of functions that it cannot follow, besides those that no runtime can, with
        reasons.
    """

    sources: tuple[Path, ...]
    files: tuple[Path, ...]
    include: tuple[Path, ...]
    options: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    def specs(self, objects: Path, wrapped: Sequence[str]) -> str:
        """Options that the compiler's driver passes to the compiler proper and to the linker.

        The driver itself gets no option for instrumentation: it would link its own runtime, too.
        Shared libraries and parts of programs get the runtime from the program.

        Parameters
        ----------
        objects : Path
            The runtime.
        wrapped : sequence of str
            Functions of the C library that it wraps.
        """
        compiler = (
            "-fsanitize=thread", *self.options,
            # Otherwise accesses that the compiler turns into such functions, or expands, are
            # missed.
            *(f"-fno-builtin-{name}" for name in wrapped),
            "-fno-tree-loop-distribute-patterns",
            "-Wno-tsan",  # fences are recorded by our runtime
        )  # fmt: skip
        wraps = " ".join(f"--wrap={name}" for name in wrapped)
        # Shared libraries use our functions in the program, which must export them.
        return (
            f"*cc1_options:\n+ {' '.join(compiler)}\n\n"
            f"*link:\n+ %{{!r:{wraps} %{{!shared:--export-dynamic}}}}\n\n"
            f"*lib:\n+ %{{!shared:%{{!r:{objects}}}}}\n\n"
        )


#: The runtime that records threads.
THREADS = Runtime(
    sources=tuple(sorted(RUNTIME.glob("*.c"))),
    files=tuple(sorted(RUNTIME.glob("*.[ch]"))),
    include=(RUNTIME,),
    options=("-fsanitize-coverage=trace-pc",),
)
#: Sources besides the runtime that affect a recorded trace.
_MODULES = (
    "compiler.py", "instruction_counts.py", "locations.py", "merge.cpp", "merge.py", "raw.py",
    "recorder.py", "symbols.py", "thread_events.h", "thread_twins.py", "trace_rules.cpp",
    "trace_rules.py",
)  # fmt: skip


def runtime_hash() -> str:
    """Hash of the recorder of threads: its runtime's sources, and its own."""
    own = [Path(__file__).parent / name for name in _MODULES]
    return content_key(files=(*THREADS.files, *own))


def _link_runtime(objects: Sequence[Path], target: Path) -> list[str]:
    """Link the runtime's objects into one file; return the C library functions that it wraps.

    Its own calls of these go to the C library, since they are not the program's.
    """
    failure = "Runtime of the recorder cannot be linked"
    run_tool(["ld", "-r", *map(str, objects), "-o", str(target)], failure, error=RecordError)
    listed = run_tool(
        ["nm", "--defined-only", "--format=just-symbols", str(target)], failure, error=RecordError
    )
    wrapped = sorted(re.findall(r"^__wrap_(\w+)$", listed, re.MULTILINE))
    renamed = (f"--redefine-sym={name}=__real_{name}" for name in wrapped)
    run_tool(["objcopy", *renamed, str(target)], failure, error=RecordError)
    return wrapped


def _driver_folder(runtime: Runtime) -> Path:
    """Folder with a runtime and the driver's ``specs``, made once."""
    key = content_key(files=(*runtime.files, Path(__file__)))
    folder = (cache_folder() / "recorder" / key).resolve()

    def make(unfinished: Path) -> None:
        unfinished.mkdir()
        objects = []
        for source in runtime.sources:
            objects.append(unfinished / f"{source.stem}.o")
            run_tool(
                ["gcc", *_COMPILE_RUNTIME, str(source), "-o", str(objects[-1])],
                "Runtime of the recorder cannot be compiled",
                error=RecordError,
            )
        wrapped = _link_runtime(objects, unfinished / _LINKED)
        (unfinished / "specs").write_text(runtime.specs(folder / _LINKED, wrapped))

    return keep(folder, make)


@cache
def _symbols(which: str) -> frozenset[str]:
    listed = run_tool(
        ["nm", which, "--format=just-symbols", str(_driver_folder(THREADS) / _LINKED)],
        "Symbols of the recorder cannot be read",
        error=RecordError,
    )
    return frozenset(re.sub(r"^__(wrap|real)_", "", name) for name in listed.split())


def recorded_functions() -> frozenset[str]:
    """Library functions that the recorder of threads wraps."""
    return _symbols("--defined-only")


def called_functions() -> frozenset[str]:
    """C library functions called by the recorder itself, and thus by every recorded program."""
    return _symbols("--undefined-only")


def driver_command(
    compiler: str, arguments: Sequence[str], runtime: Runtime = THREADS
) -> list[str]:
    """Command of a compiler whose programs can be recorded.

    Parameters
    ----------
    compiler : str
        ``"gcc"`` or ``"g++"``.
    arguments : sequence of str
        The user's arguments.
    runtime : Runtime
        Runtime to link into programs.

    Raises
    ------
    RecordError
        If the runtime cannot be compiled.
    """
    is_program = not {"-shared", "-r", "-c", "-S", "-E"}.intersection(arguments)
    return [
        compiler, f"-specs={_driver_folder(runtime) / 'specs'}", *_FIRST, *arguments,
        *(f"-I{path}" for path in runtime.include), *_LAST,
        *(("-no-pie",) if is_program else ()),
    ]  # fmt: skip


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
        Folder of object files and the program.
    include : sequence of Path
        Folders of header files.
    options : sequence of str
        Options for the compiler, after ours, and for the linker.
    runtime : Runtime
        Runtime to link into the program.

    Raises
    ------
    RecordError
        If a source is missing or of another language, the compiler is missing or refuses it, or
        the program uses what cannot be recorded.
    """
    if not sources:
        raise RecordError("No source given: name at least one file")
    for source in sources:
        if source.suffix not in SUFFIXES:
            raise RecordError(f"Source must end in {', '.join(SUFFIXES)}, not be {source}")
        if not source.is_file():
            raise RecordError(f"Source {source} was not found")
    objects = []
    for number, source in enumerate(sources):
        target = folder / f"{number}.o"
        arguments = [
            *_COMPILE, *(f"-I{path}" for path in include), *options,
            str(source), "-o", str(target),
        ]  # fmt: skip
        compiler = "g++" if source.suffix in _CXX else "gcc"
        run_tool(
            driver_command(compiler, arguments, runtime),
            f"Source {source} cannot be compiled",
            error=RecordError,
        )
        objects.append(str(target))
    check_objects(objects, runtime.refused)
    needs_cxx = any(source.suffix in _CXX for source in sources)
    program = folder / "program"
    arguments = ["-pthread", *objects, *options, "-lm", "-o", str(program)]
    run_tool(
        driver_command("g++" if needs_cxx else "gcc", arguments, runtime),
        "Program cannot be linked",
        error=RecordError,
    )
    return program
