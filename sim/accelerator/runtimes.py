"""The two runtimes linked into programs with accelerators, and their headers."""

from __future__ import annotations

from pathlib import Path

from racetrap.sim.cpu.compiler import RUNTIME, Runtime

_FOLDER = Path(__file__).parent / "runtime"
#: Folder of the headers that programs and platform layers include.
INCLUDE = Path(__file__).parent / "include"
#: Sources that both share with the runtime for threads.
_SHARED = tuple(RUNTIME / name for name in ("atomic_calls.c", "raw_file.c", "strings.c"))
_HEADERS = (*RUNTIME.glob("*.h"), *_FOLDER.glob("*.h"), *INCLUDE.rglob("*.h"))
_CORES = ("record.c", "timing.c")
_REFUSED = (
    (r"v?fork|posix_spawnp?|popen|system", "another process is not followed"),
    (
        r"pthread_create|thrd_create|GOMP_\w+|_ZNSt6thread\w+",
        "a program with accelerators is that of one CPU",
    ),
    (r"signal|sigaction", "handlers of signals interrupt the recorder itself"),
)


def _runtime(core: str) -> Runtime:
    sources = [path for path in sorted(_FOLDER.glob("*.c")) if path.name not in _CORES]
    sources += [*_SHARED, _FOLDER / core]
    return Runtime(
        sources=tuple(sources),
        files=(*sources, *sorted(_HEADERS)),
        include=(INCLUDE,),
        refused=_REFUSED,
    )


#: Records the program's operations.
RECORDER = _runtime("record.c")
#: Defers DMA and write-backs randomly.
TIMING = _runtime("timing.c")
