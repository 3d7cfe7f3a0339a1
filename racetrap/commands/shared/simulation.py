"""Call of `racetrap simulate`, common to all detectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from racetrap.commands.shared.result_forms import Form
from racetrap.commands.shared.terminal import progress_bar
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.failure import Failure

#: Waves; companion files set up GTKWave and Surfer.
WAVES = tuple(
    Form(end, "waves", to_standard_output=False, companions=(".gtkw", ".sucl", ".log"))
    for end in (".fst", ".vcd")
)
#: JSON of a suite, and its problems.
SuiteOutcome = tuple[dict[str, Any], Sequence[Failure]]


@dataclass(frozen=True)
class Simulation:
    """Values of the options; ``run`` is the detector's ``RUN``."""

    preset: str
    params: Any
    console: Console
    seed: int
    schedules: int
    size: str
    run: Any
    all_signals: bool
    choice: RaceChoice
    jobs: int
    output: Mapping[str, str]
    regions: tuple[str, ...]

    @property
    def waves(self) -> Path | None:
        """File of waves, if requested."""
        file = next((self.output[form.end] for form in WAVES if form.end in self.output), None)
        return None if file is None else Path(file)

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
        Parameters of the command, and forms of its output, that apply to this stimulus but not to
        every one.
    check : callable
        Raises ``ValueError`` for option values that this suite does not support.
    """

    run: Callable[[Simulation], SuiteOutcome]
    options: tuple[str, ...]
    check: Callable[[Simulation], None] = lambda call: None
