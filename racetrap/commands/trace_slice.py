"""`racetrap trace slice`: some accesses of a trace of threads."""

from __future__ import annotations

from pathlib import Path

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.terminal import input_errors, report_console, write_json
from racetrap.golden_model.trace import read_thread_trace


@click.command("slice")
@click.argument("source", metavar="TRACE", type=InputFile())
@options.output("FILE", "Trace file to write, in the text form if it ends in .txt.", required=True)
@click.option(
    "--events", metavar="A:B", help="Keep accesses of events A to B-1 only; they count from 0."
)
@click.option("--threads", metavar="N,...", help="Keep accesses of these threads only.")
@options.result
def command(
    source: str, output: Path, events: str | None, threads: str | None, json_file: str | None
) -> None:
    """Write selected accesses of a trace of threads to FILE.

    Everything that orders threads is kept, so the remaining accesses race if and only if they race
    in TRACE.
    """
    # NumPy is slow to import.
    from racetrap.golden_model.trace.threads.slice import slice_trace

    with input_errors():
        if events is None and threads is None:
            raise ValueError("Slice must have --events or --threads")
        selected = options.numbers_from("Events", events)
        chosen = None if threads is None else _threads(threads)
        whole = read_thread_trace(source)
        if selected is not None and selected.stop > len(whole):
            raise ValueError(f"Events must be below {len(whole)}, not {events}")
        part = slice_trace(whole, selected, chosen)
        (part.write_text if output.suffix == options.TEXT_SUFFIX else part.write_binary)(output)
    report_console().print(f"{len(part)} of {len(whole)} events in {output}", markup=False)
    write_json(
        json_file, {"trace": str(output), "events": len(part), "left_out": len(whole) - len(part)}
    )


def _threads(text: str) -> list[int]:
    numbers = text.split(",")
    if not all(number.isdecimal() for number in numbers):
        raise ValueError(f"Threads must be numbers with commas between, not {text}")
    return list(map(int, numbers))
