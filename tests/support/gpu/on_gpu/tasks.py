"""Tasks of a measurement, which several processes take from one list."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from racetrap.sim.gpu.instrumented.cuda_driver import NoGpuError
from racetrap.sim.gpu.instrumented.gpu_process import GpuProcess
from tests.support.gpu.comparison.packing import kernel_text, suite_jobs
from tests.support.gpu.on_gpu.cured import cured_names, cured_row
from tests.support.gpu.on_gpu.measuring import Subject, packed, rows, unpacked
from tests.support.gpu.on_gpu.programs import fetch_packages, form_names, form_row

_KERNELS, _NAMES = "kernels.json", "names.json"
#: Kernels of one source, which is assembled for each task.
_KERNELS_OF_TASK = 6
#: Seconds after which a kernel, and after which a task is given up.
_KERNEL_SECONDS, _TASK_SECONDS = 10.0, 150.0


class _OutOfTime(Exception):
    """The time for a task is up."""


class Task(NamedTuple):
    """Something that one process measures.

    Parameters
    ----------
    part : str
        Part of the results.
    names : tuple of str
        What is measured.
    """

    part: str
    names: tuple[str, ...]


def all_names() -> dict[str, list[str]]:
    """All that can be measured, by part."""
    return {
        "kernels": [job.name for job in suite_jobs()], "programs": form_names(),
        "cured": cured_names(),
    }  # fmt: skip


def pack(folder: Path, names: dict[str, list[str]]) -> None:
    """Write a new folder with what these names need."""
    folder.mkdir(parents=True)
    jobs = [job for job in suite_jobs() if job.name in set(names["kernels"])]
    texts = {source: kernel_text(source) for source in sorted({each.source for each in jobs})}
    (folder / _KERNELS).write_text(packed(jobs, texts), encoding="utf-8")
    (folder / _NAMES).write_text(json.dumps(names), encoding="utf-8")
    if [name for name in names["programs"] if name.startswith("foreign/")]:
        fetch_packages(folder)


def tasks_of(folder: Path) -> list[Task]:
    """The tasks of a folder: first programs, of which some take as long as many others."""
    names = json.loads((folder / _NAMES).read_text(encoding="utf-8"))
    jobs, _ = unpacked((folder / _KERNELS).read_text(encoding="utf-8"))
    by_source: dict[str, list[str]] = {}
    for job in jobs:
        by_source.setdefault(job.source, []).append(job.name)
    chunks = [
        tuple(every[start : start + _KERNELS_OF_TASK])
        for every in by_source.values() for start in range(0, len(every), _KERNELS_OF_TASK)
    ]  # fmt: skip
    return [
        *(Task("programs", (name,)) for name in names["programs"]),
        *(Task("kernels", chunk) for chunk in chunks),
        *(Task("cured", (name,)) for name in names["cured"]),
    ]  # fmt: skip


def work(folder: Path, out: Path) -> None:
    """Do tasks until all are taken, by this process or by others; write a file of rows."""
    worker, tasks = _Worker(folder), tasks_of(folder)
    signal.signal(signal.SIGALRM, _give_up)
    with (out / f"rows_{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        for number, task in enumerate(tasks):
            if not _is_taken(out / f"task_{number}"):
                begin = time.monotonic()
                for row in worker.rows(task):
                    file.write(json.dumps(row) + "\n")
                    file.flush()
                print(f"{time.monotonic() - begin:.1f} s", *task.names, flush=True)


def _is_taken(claim: Path) -> bool:
    with suppress(FileExistsError):
        claim.touch(exist_ok=False)
        return False
    return True


def _give_up(signal_number: int, frame: FrameType | None) -> None:
    raise _OutOfTime(f"Task was given up after {_TASK_SECONDS:g} s")


class _Worker:
    """Does tasks, with one GPU for all of them, if there is one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        jobs, self._texts = unpacked((folder / _KERNELS).read_text(encoding="utf-8"))
        self._jobs = {job.name: job for job in jobs}
        self._gpus: list[GpuProcess] = []
        self._subject: Subject | None = None

    def _begin(self) -> None:
        if self._subject is None:
            with suppress(NoGpuError):
                self._gpus = [GpuProcess(_KERNEL_SECONDS) for _ in range(2)]
                self._subject = Subject.of(*self._gpus)

    def rows(self, task: Task) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Results of a task: part, name and row; an error is the row of the rest."""
        names = list(task.names)
        try:
            self._begin()
            signal.setitimer(signal.ITIMER_REAL, _TASK_SECONDS)
            for name, row in self._measured(task):
                names.remove(name)
                yield task.part, name, row
        except Exception as error:  # of one task, which must not end the others
            yield from (
                (task.part, name, {"failed": f"{type(error).__name__}: {error}"}) for name in names
            )
            # Its answer may still be on the way.
            for gpu in self._gpus:
                gpu.close()
            self._gpus, self._subject = [], None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _measured(self, task: Task) -> Iterator[tuple[str, dict[str, Any]]]:
        if task.part == "kernels":
            yield from rows([self._jobs[name] for name in task.names], self._texts, self._subject)
        elif task.part == "programs":
            for name in task.names:
                yield name, form_row(name, self._folder, self._subject is not None)
        else:
            for name in task.names:
                yield name, cured_row(name, self._subject)
