"""`racetrap FILE` for C and C++ programs: record, then check exactly."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from racetrap.commands import check, trace_record
from racetrap.commands.shared.input_files import name_file

#: Parameters taken from the two commands; those of recording are passed to the recorder.
_RECORDED = ("words", "seed", "timeout", "budget", "grace", "follow", "only", "cc")
_CHECKED = ("choice", "fail_fast", "suppressed", "baseline_file", "output", "json_file")


def _parameters(command: click.Command, names: tuple[str, ...]) -> list[click.Parameter]:
    return [parameter for parameter in command.params if parameter.name in names]


def _run(**values: Any) -> None:
    """Record the program of C or C++ sources, or one built by `racetrap cc`, and check exactly.

    Runs `racetrap trace record SOURCE ...`, then `racetrap check --exact` on the recording, which
    is not kept.  Exit status: 0 no race, 1 races or lock-order inversions, 2 bad input.
    """
    root = click.get_current_context().find_root()
    recorded = {name: values[name] for name in _RECORDED}
    checked = {name: values[name] for name in _CHECKED}
    source = Path(values["words"][0])
    with TemporaryDirectory(prefix="racetrap-") as folder:
        trace = Path(folder, f"{source.stem}.trace")
        name_file(str(trace), trace.name)
        root.invoke(trace_record.command, output=trace, json_file=None, **recorded)
        root.invoke(check.command, path=str(trace), exact=True, **checked)


command = click.Command(
    "FILE", callback=_run, help=_run.__doc__,
    params=[
        *_parameters(trace_record.command, _RECORDED), *_parameters(check.command, _CHECKED)
    ],
)  # fmt: skip
