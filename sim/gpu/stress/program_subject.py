"""A whole CUDA program as a subject of stress, and what it must print and return."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace

from racetrap.golden_model.ptx_memory_model.operational import (
    Choices,
    Execution,
    InOrder,
    ReplayedChoices,
)
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.program_run import ProgramRun, run_program
from racetrap.sim.gpu.executor.machine.limits import DEFAULT_INSTRUCTION_LIMIT
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemorySettings
from racetrap.sim.gpu.stress.shared_words import shared_words
from racetrap.sim.gpu.stress.subject import (
    Changes,
    Failure,
    Run,
    Subject,
    instruction_limit,
    settings_of,
)

#: Sequentially consistent runs whose output is taken to be right.
_SEQUENTIAL_RUNS = 5


class ProgramSubject(Subject):
    """A program with its arguments.

    Right is exit status 0, and on standard output what sequentially consistent runs print; if
    these do not print the same, the exit status alone.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    settings : RunSettings
        How it is run, but for the scheduler, memory and output.

    Attributes
    ----------
    compares_output : bool
        Whether what the program prints counts.

    Raises
    ------
    ProgramError
        If it cannot be run.
    ValueError
        If it is not right by sequentially consistent memory.
    """

    def __init__(self, command: Sequence[str], settings: RunSettings) -> None:
        self._command, self._settings = list(command), settings
        runs = [self._run(seed=schedule) for schedule in range(_SEQUENTIAL_RUNS)]
        for run, _ in runs:
            wrong = self._fault(run)[1] or _not_done(run) or self._wrong_status(run)
            self.demand_right("Program", wrong)
        self.functions = runs[0][0].functions
        self.traces = [run.trace for run, _ in runs]
        self._shared = shared_words(self.traces, settings.independent_threads)
        self._longest = max(
            sum(launch.stats.warp_instructions for launch in run.launches if launch.stats)
            for run, _ in runs
        )
        self._output = runs[0][1]
        self.compares_output = all(output == self._output for _, output in runs)
        self.demand_right("Program", self.run("views", InOrder()).sentence)

    def _run(
        self,
        memory: WeakMemorySettings | None = None,
        limit: int = DEFAULT_INSTRUCTION_LIMIT,
        seed: int = 0,
    ) -> tuple[ProgramRun, bytes]:
        """A run, and what it printed."""
        with tempfile.TemporaryFile() as output:
            settings = replace(
                self._settings, scheduler="random" if seed else "round-robin", seed=seed,
                output=output.fileno(), memory=memory, instruction_limit=limit,
            )  # fmt: skip
            run = run_program(self._command, settings)
            output.seek(0)
            return run, output.read()

    @staticmethod
    def _fault(run: ProgramRun) -> tuple[Failure | None, str]:
        for launch in run.launches:
            if launch.fault:
                return Failure.HANG if launch.hangs else Failure.FAULT, launch.fault
        return None, ""

    @staticmethod
    def _wrong_status(run: ProgramRun) -> str:
        return f"Exit status of the program must be 0, not {run.status}" if run.status else ""

    def run(self, memory: str, choices: Choices, changes: Changes | None = None) -> Run:
        limit = instruction_limit(self._longest)
        run, output = self._run(settings_of(memory, choices, changes, self._shared), limit)
        failure, sentence = self._fault(run)
        result = None
        if failure is None:
            sentence = self._wrong_status(run)
            if not sentence and self.compares_output and output != self._output:
                executions: list[Execution] = []
                again = ReplayedChoices(choices.deviations)
                self._run(settings_of(memory, again, changes, self._shared, executions), limit)
                if all(each.is_sequentially_consistent() for each in executions):
                    # Sequentially consistent runs do not all print the same.
                    self.compares_output = False
                else:
                    sentence, result = _different_line(self._output, output), (output,)
            failure = Failure.RESULT if sentence else None
        return Run(failure, sentence, tuple(choices.deviations), result)

    def fails(self, run: Run) -> bool:
        return super().fails(run) and (self.compares_output or run.result is None)


def _not_done(run: ProgramRun) -> str:
    return run.problems[0] if run.problems else ""


def _different_line(wanted: bytes, found: bytes) -> str:
    """The first line of an output that differs."""
    lines = [output.decode(errors="replace").splitlines() for output in (wanted, found)]
    number = next(
        (number for number, pair in enumerate(zip(*lines, strict=False)) if pair[0] != pair[1]),
        min(map(len, lines)),
    )
    texts = [own[number] if number < len(own) else "the end" for own in lines]
    return f"Line {number + 1} of the output must be {texts[0]!r}, not {texts[1]!r}"
