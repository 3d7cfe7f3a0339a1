"""`racetrap trace convert`: a trace in its other form."""

from __future__ import annotations

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.output_files import OutputFile
from racetrap.commands.shared.terminal import input_errors
from racetrap.golden_model.trace import AnyTrace, ThreadTrace, is_binary, read_trace


@click.command("convert")
@click.argument("source", metavar="SOURCE", type=InputFile())
@click.argument("target", metavar="TARGET", type=OutputFile(to_standard_output=True))
@click.option(
    "--to", "form", type=options.Choice(("binary", "text", "compressed")),
    help="Form of TARGET; compressed: a smaller binary form, for traces of threads.  [default: "
    "text if SOURCE is binary, else binary]",
)  # fmt: skip
def command(source: str, target: str, form: str | None) -> None:
    """Write the trace SOURCE to TARGET in its other form; TARGET - prints the text form."""
    with input_errors():
        trace = read_trace(source)
        if target == "-":
            if form not in (None, "text"):
                raise ValueError(f"Form on standard output must be text, not {form}")
            click.echo("\n".join(trace.lines()))
        else:
            _write(trace, target, form or ("text" if is_binary(source) else "binary"))


def _write(trace: AnyTrace, target: str, form: str) -> None:
    if form == "text":
        trace.write_text(target)
    elif isinstance(trace, ThreadTrace):
        trace.write_binary(target, form == "compressed")
    elif form == "compressed":
        raise ValueError(f"Form of {trace.kind} must be binary or text, not compressed")
    else:
        trace.write_binary(target)
