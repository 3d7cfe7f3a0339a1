"""`racetrap trace convert`: a trace in its other form."""

from __future__ import annotations

import click

from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.options import form_option
from racetrap.commands.shared.output_files import OutputFile
from racetrap.commands.shared.terminal import input_errors
from racetrap.golden_model.trace import AnyTrace, ThreadTrace, is_binary, read_trace


@click.command("convert")
@click.argument("source", metavar="SOURCE", type=InputFile())
@click.argument("target", metavar="TARGET", type=OutputFile(to_standard_output=True))
@form_option("Form of TARGET.  [default: the one that SOURCE does not have]")
@click.option(
    "--compress", is_flag=True, help="Compress TARGET, which then is a binary trace of threads."
)
def command(source: str, target: str, form: str | None, compress: bool) -> None:
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


def _write(trace: AnyTrace, target: str, form: str, compress: bool) -> None:
    if compress and not (isinstance(trace, ThreadTrace) and form == "binary"):
        raise ValueError("Compressed trace must be a binary one of threads, not another")
    if form == "text":
        trace.write_text(target)
    elif isinstance(trace, ThreadTrace):
        trace.write_binary(target, compress)
    else:
        trace.write_binary(target)
