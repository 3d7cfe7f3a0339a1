"""Settings of a run of SigRace over a recorded program, in plain words and numbers."""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import MOST_INSTRUCTIONS, Sigrace


@dataclass(frozen=True)
class HardwareRun:
    """A run of SigRace's hardware over a recording.

    Parameters
    ----------
    environment : str
        Mapping of threads to cores.
    instruction_limit : int
        Instructions that the program of a recording may have.
    """

    environment: str = "fixed"
    instruction_limit: int = MOST_INSTRUCTIONS

    def sigrace(self, params: SigraceParams) -> Sigrace:
        """SigRace as it runs so."""
        return Sigrace(
            params, Environment(self.environment), instruction_limit=self.instruction_limit
        )


@dataclass(frozen=True)
class SigraceRun(HardwareRun):
    """A run of SigRace's golden model.

    Parameters
    ----------
    checkpoint_interval : int
        Instructions committed by one thread from one checkpoint to the next.
    unbounded : bool
        Whether it is Ideal SigRace, with queues and a conflict log without limit.
    rollback_when : str
        Requests for a rollback that software answers before the next checkpoint, by name.
    ring_depth : int
        Entries of each address ring, with which conflicts are confirmed before a rollback; 0: there
        are no rings.
    """

    checkpoint_interval: int = 1_000_000
    unbounded: bool = False
    rollback_when: str = "blocks"
    ring_depth: int = 0

    def sigrace(self, params: SigraceParams) -> Sigrace:
        return Sigrace(
            params, Environment(self.environment), self.checkpoint_interval, self.unbounded,
            self.instruction_limit, self.rollback_when, self.ring_depth,
        )  # fmt: skip
