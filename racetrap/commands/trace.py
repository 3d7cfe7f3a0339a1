"""`racetrap trace`: take traces of kernels, look at trace files, convert their two forms."""

from __future__ import annotations

import io
import time
from dataclasses import asdict
from typing import Any

import click
import numpy as np

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Trace, dump_text, is_binary, read_trace
from racetrap.kernels import capture_kernel, launch_option, run_to_dict
from racetrap.output import input_errors, json_option, print_table, report_console, write_json

__all__ = ["command"]


@click.group("trace")
def command() -> None:
    """Take traces of kernels, look at trace files and convert them."""


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


def _write(trace: Trace, target: str, form: str) -> None:
    if form == "text":
        trace.write_text(target)
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
        else:
            _write(trace, target, form or ("text" if is_binary(source) else "binary"))


def _dumps(texts: tuple[str, ...]) -> dict[int, str]:
    """File of each buffer argument that is to be kept."""
    files = {}
    for text in texts:
        number, equals, file = text.partition("=")
        if not (equals and file and number.isdecimal()):
            raise ValueError(f"Dump must be NUMBER=FILE, not {text}")
        files[int(number)] = file
    return files


def _save(buffers: dict[int, np.ndarray], files: dict[int, str]) -> None:
    for number, file in files.items():
        if number not in buffers:
            raise ValueError(
                f"Dump must be of a buffer argument ({', '.join(map(str, buffers)) or 'none'}), "
                f"not of argument {number}"
            )
        with open(file, "wb") as stream:
            np.save(stream, buffers[number])


@command.command("capture")
@click.argument("kernel_file", metavar="KERNEL")
@launch_option(required=True)
@click.option("-o", "target", metavar="OUT", required=True, help="Trace file to write.")
@click.option(
    "--to",
    "form",
    type=click.Choice(["binary", "text"]),
    default="binary",
    show_default=True,
    help="Form of OUT.",
)
@click.option(
    "--dump",
    "dumps",
    metavar="NUMBER=FILE",
    multiple=True,
    help="Write a buffer argument's contents after the run to a .npy file; arguments count "
    "from 0; may be repeated.",
)
@json_option
def capture_command(
    kernel_file: str,
    launch_file: str,
    target: str,
    form: str,
    dumps: tuple[str, ...],
    json_file: str | None,
) -> None:
    """Run KERNEL, a .cu or .ptx file, and write what its warps did to a trace file.

    A CUDA source is compiled, which needs the extra `cuda` but no GPU.
    """
    with input_errors():
        files = _dumps(dumps)
    begin = time.perf_counter()
    captured = capture_kernel(kernel_file, launch_file)
    seconds = time.perf_counter() - begin
    with input_errors():
        _save(captured.buffers, files)
        _write(captured.trace, target, form)
    stats = captured.stats
    report_console(json_file).print(
        f"{target}: {len(captured.trace)} events of {stats.blocks} blocks, "
        f"{stats.warp_instructions} warp instructions ({stats.thread_instructions} of threads) "
        f"in {seconds:.1f} s",
        markup=False,
    )
    summary = {"kernel": kernel_file, "launch": launch_file, **run_to_dict(captured)}
    write_json(json_file, {**summary, "seconds": seconds, **_summary(target, captured.trace)})
