"""`racetrap trace info`: summary of a trace file."""

from __future__ import annotations

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.terminal import input_errors, report_console, write_json
from racetrap.golden_model.trace import read_trace
from racetrap.presenters.trace_summary import print_summary, trace_summary


@click.command("info")
@click.argument("trace_file", metavar="TRACE", type=InputFile())
@options.result
def command(trace_file: str, json_file: str | None) -> None:
    """Check TRACE against every rule of the format, and summarise it."""
    with input_errors():
        trace = read_trace(trace_file)
        summary = trace_summary(trace_file, trace)
    print_summary(report_console(), summary, trace)
    write_json(json_file, summary)
