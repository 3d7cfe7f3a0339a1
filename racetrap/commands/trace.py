"""`racetrap trace`: take traces of kernels and programs, look at trace files, convert them."""

from __future__ import annotations

import importlib

import click

from racetrap.golden_model.trace import ThreadTrace, Trace, is_binary, read_trace
from racetrap.presenters.output import input_errors, json_option, report_console, write_json
from racetrap.presenters.trace_summary import print_summary, trace_summary

__all__ = ["command"]

#: Sub-commands that need much more than trace files: imported only when called.
_TAKING = ("capture", "record")


class _LazyGroup(click.Group):
    """Group whose commands of ``_TAKING`` are in modules ``racetrap.commands.trace_<name>``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_TAKING])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _TAKING:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"racetrap.commands.trace_{cmd_name}")
        found: click.Command = module.command
        return found


@click.group("trace", cls=_LazyGroup)
def command() -> None:
    """Take traces of kernels and programs, look at trace files and convert them."""


@command.command("info")
@click.argument("trace_file", metavar="TRACE")
@json_option
def info(trace_file: str, json_file: str | None) -> None:
    """Check every rule of the format on TRACE, and say what is in it."""
    with input_errors():
        summary = trace_summary(trace_file, read_trace(trace_file))
    print_summary(report_console(json_file), summary)
    write_json(json_file, summary)


def _write(trace: Trace | ThreadTrace, target: str, form: str, compress: bool) -> None:
    if compress and not (isinstance(trace, ThreadTrace) and form == "binary"):
        raise ValueError("Compressed trace must be a binary one of threads, not another")
    if form == "text":
        trace.write_text(target)
    elif isinstance(trace, ThreadTrace):
        trace.write_binary(target, compress)
    else:
        trace.write_binary(target)


@command.command("convert")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option(
    "--to",
    "form",
    type=click.Choice(["binary", "text"]),
    help="Form of TARGET; by default the one that SOURCE does not have.",
)
@click.option(
    "--compress", is_flag=True, help="Compress TARGET, which then is a binary trace of threads."
)
def convert(source: str, target: str, form: str | None, compress: bool) -> None:
    """Write the trace SOURCE to TARGET in its other form; TARGET - prints the text form."""
    with input_errors():
        trace = read_trace(source)
        if target == "-":
            if form == "binary" or compress:
                raise ValueError("Form on standard output must be text, not binary")
            click.echo("\n".join(trace.lines()))
        else:
            other = "text" if is_binary(source) and not compress else "binary"
            _write(trace, target, form or other, compress)
