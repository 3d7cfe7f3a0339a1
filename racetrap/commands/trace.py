"""`racetrap trace`: look at trace files and convert them between their two forms."""

from __future__ import annotations

import io
from dataclasses import asdict
from typing import Any

import click
import numpy as np

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Trace, dump_text, is_binary, read_trace
from racetrap.output import input_errors, json_option, print_table, report_console, write_json

__all__ = ["command"]


@click.group("trace")
def command() -> None:
    """Look at trace files and convert them."""


def _summary(trace_file: str, trace: Trace) -> dict[str, Any]:
    counts = np.bincount(trace.events["kind"], minlength=len(EventKind))
    addresses = trace.lanes["address"]
    return {
        "trace": trace_file,
        "form": "binary" if is_binary(trace_file) else "text",
        "header": asdict(trace.header),
        "events": len(trace),
        "lanes": len(trace.lanes),
        "kinds": {kind.name.lower(): int(counts[kind]) for kind in EventKind},
        "lowest_address": int(addresses.min()) if len(addresses) else None,
        "highest_address": int(addresses.max()) if len(addresses) else None,
    }


@command.command("info")
@click.argument("trace_file", metavar="TRACE")
@json_option
def info(trace_file: str, json_file: str | None) -> None:
    """Check every rule of the format on TRACE, and say what is in it."""
    with input_errors():
        summary = _summary(trace_file, read_trace(trace_file))
    header = summary["header"]
    console = report_console(json_file)
    geometry, region = header["geometry"], header["region"]
    console.print(
        f"{trace_file}: {summary['form']} trace for {header['system']}\n"
        f"Source:   {header['source'] or 'not said'}\n"
        f"Seed:     {'none' if header['seed'] is None else header['seed']}\n"
        f"Geometry: {geometry['sm_count']} SMs x {geometry['blocks_per_sm']} blocks, "
        f"{geometry['warps_per_sm']} warps an SM\n"
        f"Region:   2**{region['size_log2']} bytes from {region['data_base']:#x}",
        markup=False,
    )
    if summary["lanes"]:
        low, high = summary["lowest_address"], summary["highest_address"]
        console.print(f"Accessed: from {low:#x} to {high:#x}, {summary['lanes']} lane accesses")
    rows = [[kind, count] for kind, count in summary["kinds"].items()]
    print_table(console, f"{summary['events']} events", ["kind", "events"], rows)
    write_json(json_file, summary)


@command.command("convert")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option(
    "--to",
    "form",
    type=click.Choice(["binary", "text"]),
    help="Form of TARGET; by default the one that SOURCE does not have.",
)
def convert(source: str, target: str, form: str | None) -> None:
    """Write the trace SOURCE to TARGET in its other form; TARGET - prints the text form."""
    with input_errors():
        trace = read_trace(source)
        if target == "-":
            if form == "binary":
                raise ValueError("Form on standard output must be text, not binary")
            text = io.StringIO()
            dump_text(trace, text)
            click.echo(text.getvalue(), nl=False)
        elif (form or ("text" if is_binary(source) else "binary")) == "text":
            trace.write_text(target)
        else:
            trace.write_binary(target)
