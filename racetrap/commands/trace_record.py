"""`racetrap trace record`: trace of a program with threads, or with accelerators."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile, NamedFiles, given_name
from racetrap.commands.shared.output_files import OutputFile, is_standard_output_taken
from racetrap.commands.shared.settings import memory_with
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import fail, input_errors, report_console, write_json
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem, OperationKind
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.presenters.recording_remarks import recording_remarks
from racetrap.sim.accelerator.recorder import (
    AcceleratorRecording,
    Allocator,
    record_accelerator,
)
from racetrap.sim.cpu.compiler import OPTIMISATION, SUFFIXES
from racetrap.sim.cpu.recorder import (
    GRACE,
    MOST_GRACE,
    TIMEOUT,
    RecordError,
    Recording,
    record,
    record_program,
)
from racetrap.verdict.threads.line_races import address_text

_THREADS = Subject(
    "a program with threads", ("compress", "seed", "budget", "grace", "follow", "only")
)
_ACCELERATOR = Subject("a program with accelerators", ("settings", "target_map"))
_SOURCES = Subject("sources", ("accelerator", "cc"))


def _split(words: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """Sources or a program, and its arguments: the words after ``--``; without it, or after a
    program, those from the first word that is not a source."""
    if not words[0].endswith(SUFFIXES):
        return [Path(words[0])], list(words[1 + (words[1:2] == ("--",)) :])
    end = words.index("--") if "--" in words else len(words)
    names = words[:end]
    count = next((i for i, name in enumerate(names) if not name.endswith(SUFFIXES)), len(names))
    if "--" not in words and count:
        return [Path(name) for name in words[:count]], list(words[count:])
    return [Path(name) for name in names], list(words[end + 1 :])


class _Program(NamedFiles):
    """Sources or a program, and arguments, which may be anything."""

    def files(self, values: Sequence[str], others: Mapping[str, Any]) -> list[str]:
        """The sources, or the program."""
        if not values or not values[0].endswith(SUFFIXES):
            return list(values[:1])
        return [str(source) for source in _split(tuple(values))[0]]


def _target(words: Sequence[str]) -> str | None:
    """Trace file of a command line without ``--output``; ``None`` if it has no program."""
    return f"{Path(words[0]).stem}.trace" if words else None


@contextmanager
def _progress() -> Iterator[Callable[[int], None] | None]:
    """Show the number of events so far on standard error, if that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("Compiling") as status:
        yield lambda events: status.update(f"Recording: about {events:,} events")


def _summary(target: str, recording: Recording) -> dict[str, Any]:
    trace = recording.trace
    counts = np.bincount(trace.events["kind"], minlength=len(ThreadEventKind))
    places = trace.header.locations
    return {
        "trace": target,
        "source": trace.header.source,
        "seed": trace.header.seed,
        "ending": recording.ending,
        "waiting": [
            thread._asdict()
            | {
                "place": places.get(thread.pc),
                "holder_place": places.get(thread.holder_pc or 0),
                "address_text": address_text(thread.address, trace.header),
            }
            for thread in recording.waiting
        ],
        "threads": trace.header.threads,
        "events": len(trace),
        "instructions": int(trace.events["instructions"].sum(dtype=np.uint64)),
        "kinds": {kind.name.lower(): int(counts[kind]) for kind in ThreadEventKind},
        "raw_bytes": recording.raw_bytes,
        "run_seconds": recording.run_seconds,
        "events_per_second": len(trace) / recording.run_seconds,
        "merge_seconds": recording.merge_seconds,
        "merged_per_second": len(trace) / recording.merge_seconds,
        "losses": recording.losses,
        "unseen_functions": recording.unseen,
    }


def _accelerator_summary(target: str, recording: AcceleratorRecording) -> dict[str, Any]:
    trace, header = recording.trace, recording.trace.header
    counts = np.bincount(trace.events["kind"], minlength=len(OperationKind))
    return {
        "trace": target,
        "source": header.source,
        "memory": asdict(header.memory),
        "layout": header.layout,
        "events": len(trace),
        "kinds": {kind.name.lower(): int(counts[kind]) for kind in OperationKind},
        "run_seconds": recording.run_seconds,
    }


@click.command("record", cls=SubjectCommand, subjects=(_THREADS, _ACCELERATOR, _SOURCES))
@click.argument(
    "words", metavar="SOURCE ... | PROGRAM [-- ARGS]", nargs=-1, required=True, type=_Program()
)
@options.output(
    "FILE",
    "Trace file to write.  [default: the first source's name with .trace, in this folder]",
    type=OutputFile(Path, default=lambda given: _target(given.get("words") or ())),
)
@click.option(
    "--accelerator", is_flag=True,
    help="Record a CPU and its accelerators, whose platform layer uses racetrap's headers.",
)  # fmt: skip
@click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True,
    help="Change the target: line_bytes (32) and granule_bytes (a line) of its cache; prefetch "
    "(false): the cache may fill any line at any time; uncached_snoops_cache (false); "
    "write_through (false): no line of the cache is ever dirty; padding (16): bytes between two "
    "blocks of the heap; alignment (16) of blocks; base: start of the heap.  May be repeated.",
)  # fmt: skip
@click.option(
    "--map", "target_map", metavar="FILE", type=InputFile(),
    help="Map file of the target's linker, with the addresses of its objects.",
)  # fmt: skip
@click.option(
    "--compress", is_flag=True, help="Write a smaller file, which cannot be memory-mapped."
)
@click.option(
    "--seed", type=click.IntRange(0, (1 << 64) - 1),
    help="Seed of small delays before synchronisation, which change the order of events.",
)  # fmt: skip
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=TIMEOUT, show_default=True,
    help="Seconds after which the program is killed, and counts as failed.",
)  # fmt: skip
@click.option(
    "--budget", metavar="N|Ts", type=options.BudgetType(), default=options.Budget(),
    help="Stop the program after N events, T seconds as in 10s, or whichever comes first, "
    "as in 1000000,10s.",
)  # fmt: skip
@click.option(
    "--grace", type=click.FloatRange(0, MOST_GRACE), default=GRACE, show_default=True,
    help="Seconds that threads may run on after the end of main.",
)  # fmt: skip
@click.option(
    "--follow", type=options.Choice(["parent", "child"]), default="parent", show_default=True,
    help="Process to record after a fork.",
)  # fmt: skip
@click.option(
    "--only", metavar="FUNCTION", multiple=True,
    help="Record plain accesses only within calls of FUNCTION; may be repeated.",
)  # fmt: skip
@click.option(
    "--cc", metavar="OPTION", multiple=True,
    help="Option for compiler and linker, such as -Iheaders; may be repeated.",
)  # fmt: skip
@options.result
def command(
    words: tuple[str, ...],
    output: Path | None,
    accelerator: bool,
    settings: tuple[str, ...],
    target_map: str | None,
    compress: bool,
    seed: int | None,
    timeout: float,
    budget: options.Budget,
    grace: float,
    follow: str,
    only: tuple[str, ...],
    cc: tuple[str, ...],
    json_file: str | None,
) -> None:
    """Run a program with ARGS, and write a trace of its threads, or of its CPU and accelerators.

    C and C++ sources are compiled; PROGRAM must have been built by `racetrap cc` or `racetrap c++`.
    If threads crash, fail or are interrupted, the trace ends there.

    Programs with threads need no change; with racetrap.h they can exclude accesses from checking.
    See docs/recording.md, and docs/noncoherent.md for accelerators.  Put -- before sources and
    before arguments that begin with a dash.
    """
    is_built = not words[0].endswith(SUFFIXES)
    sources, arguments = _split(words)
    target = str(output or _target(words))
    common: dict[str, Any] = {
        "timeout": timeout,
        # With JSON, standard output must contain nothing else.
        "output": sys.stderr if is_standard_output_taken() else None,
    }
    if not is_built:
        common |= {"options": cc}
    with input_errors():
        made = [] if is_built else [_SOURCES.name]
        require_suitable(_ACCELERATOR.name if accelerator else _THREADS.name, *made)
        memory, heap = memory_with(MemorySystem(), settings, Allocator())
    if accelerator:
        summary = _record_accelerator(
            target, sources, arguments, memory=memory, allocator=heap,
            target_map=Path(target_map) if target_map else None,
            **common,
        )  # fmt: skip
        text = (
            f"{summary['events']} operations of a CPU and its accelerators, "
            f"layout of the {summary['layout']}; recorded in {summary['run_seconds']:.2f} s"
        )
    else:
        summary = _record_threads(
            target, sources, arguments, compress, is_built=is_built, seed=seed,
            seconds=budget.seconds, events=budget.count, grace=grace, child=follow == "child",
            only=only, **common,
        )  # fmt: skip
        text = (
            f"{summary['events']} events of {summary['threads']} threads, "
            f"{summary['instructions']} instructions; recorded in {summary['run_seconds']:.2f} s "
            f"({summary['events_per_second'] / 1e6:.1f} M events/s), merged in "
            f"{summary['merge_seconds']:.2f} s"
        )
    console = report_console()
    console.print(f"{given_name(target)}: {text}", markup=False)
    for remark in () if accelerator else recording_remarks(summary):
        console.print(remark, markup=False)
    write_json(json_file, summary)


def _record_threads(
    target: str, sources: list[Path], arguments: list[str], compress: bool, is_built: bool,
    **options: Any,
) -> dict[str, Any]:  # fmt: skip
    try:
        with _progress() as progress:
            if is_built:
                recording = record_program(sources[0], arguments, progress=progress, **options)
            else:
                recording = record(sources, arguments, progress=progress, **options)
    except RecordError as error:
        fail(error)
    with input_errors():
        recording.trace.write_binary(target, compress)
    is_ours = not is_built and not any(each.startswith("-O") for each in options["options"])
    return _summary(target, recording) | {"optimisation": OPTIMISATION if is_ours else None}


def _record_accelerator(
    target: str, sources: list[Path], arguments: list[str], **options: Any
) -> dict[str, Any]:
    try:
        with _progress() as progress, input_errors():
            recording = record_accelerator(sources, arguments, progress=progress, **options)
    except RecordError as error:
        fail(error)
    with input_errors():
        recording.trace.write_binary(target)
    return _accelerator_summary(target, recording)
