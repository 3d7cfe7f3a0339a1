"""`racetrap fpga selftest`: test of a board against the golden model."""

from __future__ import annotations

import click
from rich.console import Console

from racetrap.commands.shared.terminal import ExitStatus, fail, report_console
from racetrap.fpga.boards.identity import identify
from racetrap.fpga.host.client import HostLink, LinkError
from racetrap.fpga.host.self_test import check_registers, reset_registers
from racetrap.fpga.host.session import Session
from racetrap.generators.presets import with_settings
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.cosim.comparison.mismatch import Mismatch

#: Settings of every board by `racetrap fpga build`.
_BAUD = 3_000_000
_SEEDS = (1, 2, 3)


@click.command("selftest")
@click.argument("port", metavar="PORT")
def command(port: str) -> None:
    """Test the board on the serial port PORT, after a reset.

    Identifies the configuration, compares registers with their reset values, then plays random runs
    and compares all reports with the golden model.

    Exit status: 0 passed, 1 failed, 3 no board answers, or its configuration is unknown.
    """
    console = report_console()
    with HostLink(port, _BAUD) as link:
        hello = link.hello()
        name, params = identify(hello)
        console.print(f"Board: {name}, configuration {hello.configuration:#010x}.", markup=False)
        try:
            session = Session(link, params, name)
            console.print(f"Registers: {check_registers(session, params)} at their reset values.")
            for seed in _SEEDS:
                console.print(_play(session, params, name, seed), markup=False)
            reset_registers(session, params)
        except (LinkError, Mismatch) as error:
            fail(f"Self-test failed: {error}", ExitStatus.RACES)
    console.print(f"Line: {link.requests} requests, {link.resends} sent again.\nPassed.")


def _play(session: Session, params: Params, name: str, seed: int) -> str:
    """Play a random run; return its figures as a sentence."""
    system = system_of(params)
    trace = system.own("fpga", "self_test").random_trace(params, seed)
    detectors = system.own("commands.shared.detectors")
    # A program may have more threads than the board has cores.
    settings = ["environment=multiplex"] * hasattr(detectors.RUN, "environment")
    count, result = detectors.stream_trace(
        session, params, trace, with_settings(detectors.RUN, settings), RaceChoice(), name,
        Console(quiet=True),
    )  # fmt: skip
    # Reports dropped by the board are not a difference.
    counts = {**result, "reports_dropped": result["counters"].get("reports_dropped", 0)}
    figures = [
        f"{key.replace('_', ' ')} {value}" for key, value in counts.items() if type(value) is int
    ]
    return (
        f"Random run {seed}: {count} races in {len(trace)} events, equal to the golden model's "
        f"({', '.join(figures)}; {result['seconds']:.1f} s)."
    )
