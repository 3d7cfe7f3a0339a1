"""Call of `racetrap simulate`: what all detectors' parts of it share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from racetrap.commands.shared.terminal import progress_bar
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.failure import Failure

#: What JSON says of a suite, and what is wrong.
SuiteOutcome = tuple[dict[str, Any], Sequence[Failure]]


@dataclass(frozen=True)
class Simulation:
    """What was asked for, as the options say."""

    preset: str
    params: Any
    console: Console
    seed: int
    schedules: int
    size: str
    environment: str
    instruction_limit: int
    waves: Path | None
    all_signals: bool
    shows_all: bool
    limit: int | None
    has_json: bool
    jobs: int
    junit_file: str | None
    regions: tuple[str, ...]

    @property
    def choice(self) -> RaceChoice:
        """The races that are shown."""
        return RaceChoice(self.shows_all, self.limit, self.has_json)

    def build(self) -> FastModel[Any]:
        with progress_bar("Building"):
            return build_fast(self.preset, self.params)

    def write_waves(self, case: str, plan: dict[str, Any]) -> None:
        if self.waves is not None:
            # cocotb is slow to import.
            from racetrap.commands.shared.testbench import write_waves

            write_waves(
                self.console, self.preset, self.params, case, plan, self.seed, self.waves,
                self.all_signals,
            )  # fmt: skip


class Suite(NamedTuple):
    """A suite of a detector.

    Parameters
    ----------
    run : callable
        Runs and prints it.
    options : tuple of str
        Parameters of the command that are not for every stimulus, and are for this one.
    check : callable
        Raises ``ValueError`` for values of options that this suite has not.
    """

    run: Callable[[Simulation], SuiteOutcome]
    options: tuple[str, ...]
    check: Callable[[Simulation], None] = lambda call: None
