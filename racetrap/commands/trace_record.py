"""`racetrap trace record`: trace of a program with threads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

from racetrap.commands.shared.options import json_option, output_option
from racetrap.commands.shared.terminal import fail, input_errors, report_console, write_json
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.cpu.compiler import SUFFIXES
from racetrap.sim.cpu.recorder import (
    TIMEOUT,
    RecordError,
    Recording,
    RunOptions,
    record,
    record_program,
)

__all__ = ["command"]


def _split(words: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """Sources, and the program's arguments: from a ``--`` on, or the first word that is none."""
    end = words.index("--") if "--" in words else len(words)
    names = words[:end]
    count = next((i for i, name in enumerate(names) if not name.endswith(SUFFIXES)), len(names))
    if "--" not in words and count:
        return [Path(name) for name in words[:count]], list(words[count:])
    return [Path(name) for name in names], list(words[end + 1 :])


@contextmanager
def _progress() -> Iterator[Callable[[int], None] | None]:
    """Shows the number of events so far on standard error, if that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("Compiling") as status:
        yield lambda events: status.update(f"Recording: about {events:,} events")


def _summary(target: str, recording: Recording) -> dict[str, Any]:
    trace = recording.trace
    counts = np.bincount(trace.events["kind"], minlength=len(ThreadEventKind))
    return {
        "trace": target,
        "source": trace.header.source,
        "seed": trace.header.seed,
        "ending": recording.ending,
        "threads": trace.header.threads,
        "events": len(trace),
        "instructions": int(trace.events["instructions"].sum(dtype=np.uint64)),
        "kinds": {kind.name.lower(): int(counts[kind]) for kind in ThreadEventKind},
        "raw_bytes": recording.raw_bytes,
        "run_seconds": recording.run_seconds,
        "events_per_second": len(trace) / recording.run_seconds,
        "merge_seconds": recording.merge_seconds,
        "merged_per_second": len(trace) / recording.merge_seconds,
    }


def _remarks(recording: Recording) -> Iterator[str]:
    """What a user should know before the trace is trusted."""
    if recording.ending:
        yield f"Program {recording.ending}; the trace ends there."
    if recording.trace.header.threads == 1:
        yield "Program made no threads, so the trace has no races: look at what it printed."


@click.command("record")
@click.argument("words", metavar="SOURCE ... | PROGRAM [-- ARGS]", nargs=-1, required=True)
@output_option(
    "FILE",
    "Trace file to write.  [default: the first source's name with .trace, in this folder]",
)
@click.option("--compress", is_flag=True, help="Write a smaller file that cannot be mapped.")
@click.option(
    "--seed", type=click.IntRange(0, (1 << 64) - 1),
    help="Seed of small delays before synchronisation: other orders of events.",
)  # fmt: skip
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=TIMEOUT, show_default=True,
    help="Seconds after which the program is ended, as one that has failed.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(0, min_open=True),
    help="Stop the program after so many seconds.",
)  # fmt: skip
@click.option("--events", type=click.IntRange(min=1), help="Stop the program after so many events.")
@click.option(
    "-I", "include", metavar="FOLDER", multiple=True, help="Folder of headers; may be repeated."
)
@click.option(
    "--cc", "options", metavar="OPTION", multiple=True,
    help="Option for compiler and linker; may be repeated.",
)  # fmt: skip
@json_option
def command(
    words: tuple[str, ...],
    output: Path | None,
    compress: bool,
    seed: int | None,
    timeout: float,
    seconds: float | None,
    events: int | None,
    include: tuple[str, ...],
    options: tuple[str, ...],
    json_file: str | None,
) -> None:
    """Run a program with ARGS, and write what its threads did to a trace file.

    It is compiled from C or C++ sources, or PROGRAM has been built by `racetrap cc` or `racetrap
    c++`.  A program that crashes, fails or is interrupted leaves the trace up to there.

    The sources need no change; those that include racetrap.h can mark accesses that are not to
    be checked.  Put -- before sources and before arguments that begin with a dash.
    """
    is_built = not words[0].endswith(SUFFIXES)
    sources, arguments = ([Path(words[0])], list(words[1:])) if is_built else _split(words)
    if is_built and (include or options):
        fail("Options -I and --cc must be given with sources, not with a program that is built")
    target = str(output or f"{Path(sources[0]).stem}.trace")
    try:
        with _progress() as progress:
            run = RunOptions(
                seed=seed, timeout=timeout, seconds=seconds, events=events, progress=progress,
                # Standard output is for JSON, and then for nothing else.
                output=sys.stderr if json_file == "-" else None,
            )  # fmt: skip
            if is_built:
                recording = record_program(sources[0], arguments, **run)
            else:
                folders = [Path(folder) for folder in include]
                recording = record(sources, arguments, include=folders, options=options, **run)
    except RecordError as error:
        fail(error)
    with input_errors():
        recording.trace.write_binary(target, compress)
    summary = _summary(target, recording)
    console = report_console(json_file)
    console.print(
        f"{target}: {summary['events']} events of {summary['threads']} threads, "
        f"{summary['instructions']} instructions; recorded in {summary['run_seconds']:.2f} s "
        f"({summary['events_per_second'] / 1e6:.1f} M events/s), merged in "
        f"{summary['merge_seconds']:.2f} s",
        markup=False,
    )
    for remark in _remarks(recording):
        console.print(remark, markup=False)
    write_json(json_file, summary)
