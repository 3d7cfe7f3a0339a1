"""`racetrap evaluate vortex`: the ScoR suite on an open GPU."""

from __future__ import annotations

import click

from racetrap.calls.evaluate import evaluate
from racetrap.calls.evaluate_vortex import CHOICES
from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork


@click.command("vortex")
@click.argument("workloads", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(CHOICES))
@options.result
def command(workloads: tuple[str, ...], json_file: str | None) -> None:
    """Run the ScoR suite on the Verilog of Vortex beside ScoRD and causality.

    PROGRAM is a micro-benchmark or an application (default: all).  Each runs with several memories,
    drawn by seeds, and is compared with the golden models and with the exact analysis of its trace;
    applications run with each race switch.  Their cycles are compared with those without detector.

    Exit status 0 if all verdicts are as expected, else 3.
    """
    work = LongWork()
    work.finish_with(evaluate("vortex", *workloads, work=work), json_file)
