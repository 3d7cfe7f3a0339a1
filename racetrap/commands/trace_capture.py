"""`racetrap trace capture`: run a kernel on the executor, and write its trace."""

from __future__ import annotations

import time

import click
import numpy as np

from racetrap.commands.kernel_options import capture_kernel, launch_option, run_to_dict
from racetrap.presenters.output import input_errors, json_option, report_console, write_json
from racetrap.presenters.trace_summary import trace_summary

__all__ = ["command"]


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


@click.command("capture")
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
def command(
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
        if form == "text":
            captured.trace.write_text(target)
        else:
            captured.trace.write_binary(target)
    stats = captured.stats
    report_console(json_file).print(
        f"{target}: {len(captured.trace)} events of {stats.blocks} blocks, "
        f"{stats.warp_instructions} warp instructions ({stats.thread_instructions} of threads) "
        f"in {seconds:.1f} s",
        markup=False,
    )
    summary = {"kernel": kernel_file, "launch": launch_file, **run_to_dict(captured)}
    write_json(json_file, {**summary, "seconds": seconds, **trace_summary(target, captured.trace)})
