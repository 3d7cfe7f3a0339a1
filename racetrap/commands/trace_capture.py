"""`racetrap trace capture`: trace of a kernel that runs on the executor."""

from __future__ import annotations

import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from racetrap.calls.checks.kernels import capture_kernel, read_kernel, run_to_dict
from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.output_files import OutputFile
from racetrap.commands.shared.subjects import SubjectCommand
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    report_console,
    write_json,
)
from racetrap.golden_model.atomic_write import atomic_write
from racetrap.presenters.trace_findings import ending_sentences
from racetrap.presenters.trace_summary import trace_summary

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions


def _dumps(texts: tuple[str, ...]) -> dict[int | str, str]:
    files: dict[int | str, str] = {}
    for text in texts:
        buffer, equals, file = text.partition("=")
        if not (equals and file and buffer):
            raise ValueError(f"Dump must be BUFFER=FILE, not {text}")
        files[int(buffer) if buffer.isdecimal() else buffer] = file
    return files


def _save(buffers: dict[int | str, np.ndarray], files: dict[int | str, str]) -> None:
    for buffer, file in files.items():
        if buffer not in buffers:
            raise ValueError(
                f"Dump must be of a buffer ({', '.join(map(str, buffers)) or 'none'}), "
                f"not of {buffer}"
            )
        with atomic_write(file) as stream:
            np.save(stream, buffers[buffer])


@click.command("capture", cls=SubjectCommand, subjects=())
@options.compiler
@click.argument("kernel_file", metavar="KERNEL", type=InputFile())
@options.launch(required=True)
@options.lockstep
@options.output("FILE", "Trace file to write, in the text form if it ends in .txt.", required=True)
@click.option(
    "--dump",
    "dumps",
    metavar="BUFFER=FILE",
    multiple=True,
    type=OutputFile(behind="="),
    help="Write a buffer's contents after the run to a .npy file; BUFFER is a name or an "
    "argument's number, from 0; may be repeated.",
)
@options.result
def command(
    kernel_file: str,
    launch_file: str,
    compiler: CompilerOptions,
    lockstep: bool,
    output: Path,
    dumps: tuple[str, ...],
    json_file: str | None,
) -> None:
    """Run KERNEL, a .cu or .ptx file, and write a trace of its warps: if the launch file has
    several schedules, of the first.

    A CUDA source is compiled, which needs the extra `cuda` but no GPU.  If a kernel faults, the
    trace ends at the fault and says so.

    Exit status: 0 the kernels ended with the expected results, 1 they did not, 2 bad input.
    """
    with input_errors():
        files = _dumps(dumps)
    begin = time.perf_counter()
    captured = capture_kernel(*read_kernel(kernel_file, launch_file, compiler, lockstep))
    seconds = time.perf_counter() - begin
    with input_errors():
        _save(captured.buffers, files)
        if output.suffix == options.TEXT_SUFFIX:
            captured.trace.write_text(output)
        else:
            captured.trace.write_binary(output)
    stats, header = captured.stats, captured.trace.header
    sentences = ending_sentences(
        header.faults.values(), header.outside.values(), header.results.values()
    )
    console = report_console()
    console.print(
        f"{output}: {len(captured.trace)} events of {stats.blocks} blocks, "
        f"{stats.warp_instructions} warp instructions ({stats.thread_instructions} of threads) "
        f"in {seconds:.1f} s",
        markup=False,
    )
    for sentence in chain.from_iterable(sentences.values()):
        console.print(sentence, markup=False)
    write_json(json_file, {
        "kernel": kernel_file, "launch": launch_file, **run_to_dict(captured), "seconds": seconds,
        "fault": captured.fault and str(captured.fault),
        **trace_summary(str(output), captured.trace),
    })  # fmt: skip
    exit_on(any(sentences.values()))
