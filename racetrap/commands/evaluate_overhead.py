"""`racetrap evaluate overhead`: what ScoRD costs in time."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.calls.evaluate_overhead import CHOICES
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork


@click.command("overhead")
@options.size
@click.argument("workloads", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(CHOICES))
@click.option(
    "--rtl", is_flag=True,
    help="Also run the Verilated hardware of four presets beside the GPU (minutes for each "
    "application, and as many to build it), and applications on Vortex if it is installed.",
)  # fmt: skip
@options.seed
@options.result
def command(
    size: str, workloads: tuple[str, ...], rtl: bool, seed: int, json_file: str | None
) -> None:
    """Reproduce Figures 8 to 11 of the ScoRD paper: cycles and DRAM accesses of ScoRD.

    PROGRAM is an application (default: all).  Each runs once; its trace is replayed on a timing
    model of the paper's GPU, without detection and with detectors: of no time of their own, as
    the paper's, and with the cycles of ScoRD's hardware.

    Exit status 0 if a detector without costs takes no time, and a model of the hardware takes the
    cycles of the hardware, else 3.
    """
    work = LongWork()
    found = evaluate("overhead", *workloads, work=work, size=size, rtl=rtl, seed=seed)
    work.finish_with(found, json_file)
