"""The hardware of a SigRace machine while its software runs a recorded program.

Ref: SigRace (ISCA'09) Sections 3.2 to 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import OWN, Command, CoreCommand
from racetrap.golden_model.sigrace.listener import RecordingUnit
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.result import SigraceResult
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.sigrace.fast_compare import check_commands
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Timing
from racetrap.sim.cosim.sigrace.scoreboard import Scoreboard


@dataclass(frozen=True)
class MachineRun:
    """Amounts of a program's run on the hardware; everything was compared.

    Parameters
    ----------
    result : SigraceResult
        Result of the software.
    events, messages, rdm_steps : int
        Events of all contexts, Summary messages, steps of the RDM.
    analysed : int
        Events of core units in Analysis mode, including those that lead there.
    cycles : int
        Clock cycles, with cores that offer an event in each.
    """

    result: SigraceResult
    events: int
    messages: int
    rdm_steps: int
    analysed: int
    cycles: int


class _Machine:
    """Replays on the hardware the golden model's software actions.

    Messages arrive in the order of the golden model, so conflicts, rollbacks and their causes are
    the same.  Epochs are analysed on a second instance, whose RDM is off: the first continues in
    its state, as a machine does after Analysis.
    """

    def __init__(self, model: FastModel[SigraceParams], sim: FastSim, analyser: FastSim) -> None:
        self._params = model.params
        self._sim, self._board = sim, Scoreboard(model.params)
        self._analyser, self._analysis_board = analyser, Scoreboard(model.params)
        self._commands: list[Command] = []
        self._analysis: list[RecordingUnit] = []
        self.events = self.messages = self.rdm_steps = self.cycles = 0
        sim.rdm.control()
        analyser.rdm.control(enable=False)
        self._analysis_board.enable(False)

    def command(self, command: Command) -> None:
        self._commands.append(command)

    def flush(self) -> None:
        self.play()
        self._sim.rdm.flush()
        self._board.flush()

    def clear_log(self) -> None:
        self.play()
        self._sim.rdm.clear_log()
        self._board.clear_log()

    def analysis_unit(self) -> CoreUnit:
        self._analysis.append(RecordingUnit(self._params))
        return self._analysis[-1]

    def play(self) -> None:
        """Let the hardware catch up, and compare, including conflict log and reasons."""
        run = check_commands(self._sim, self._board, self._params, self._commands, in_order=True)
        self._commands = []
        self.events += run.events
        self.messages += run.messages
        self.rdm_steps += run.rdm_steps
        self.cycles += run.cycles

    def finish(self, result: SigraceResult) -> MachineRun:
        """Finish; ``Mismatch`` if the golden model in the loop found other conflicts."""
        self.play()
        events = [event for unit in self._analysis for event in unit.events]
        commands = (CoreCommand(0, 0, event, OWN) for event in events)
        check_commands(self._analyser, self._analysis_board, self._params, commands)
        conflicts = self._board.rdm.counters["conflicts"]
        if conflicts != result.conflicts:
            raise Mismatch(f"Conflicts must number {result.conflicts}, not {conflicts}")
        return MachineRun(
            result, self.events, self.messages, self.rdm_steps, len(events), self.cycles
        )


def run_program(
    model: FastModel[SigraceParams],
    sigrace: Sigrace,
    trace: ThreadTrace,
    seed: int = 0,
    timing: Timing | None = None,
) -> MachineRun:
    """Run a recorded program on the hardware, with its conflicts analysed, and compare all.

    Parameters
    ----------
    model : FastModel
        The hardware.
    sigrace : Sigrace
        The software, and the golden model; its parameters are the hardware's.
    trace : ThreadTrace
        The program.
    seed : int
        Seed of all randomness in the simulation.
    timing : Timing or None
        Timing of the cores.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    ValueError
        If the trace does not fit the machine, or ``sigrace`` is not one that can be built.
    """
    if sigrace.unbounded or sigrace.params != model.params:
        raise ValueError("Parameters of the software must be those of the hardware")
    with FastSim(model, seed, timing) as sim, FastSim(model, seed + 1, timing) as analyser:
        machine = _Machine(model, sim, analyser)
        return machine.finish(sigrace.run(trace, machine))
