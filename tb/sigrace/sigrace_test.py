"""Base of every UVM test of the SigRace system."""

from __future__ import annotations

from collections.abc import Iterable

from racetrap.golden_model.sigrace.environment import Command
from racetrap.tb.base_test import BaseTest
from racetrap.tb.sigrace.environment import SigraceEnvironment
from racetrap.tb.sigrace.sequences import PlayCommands


class SigraceTest(BaseTest):
    """Test in a ``SigraceEnvironment``."""

    environment_class = SigraceEnvironment

    async def play(self, commands: Iterable[Command], *, serves: bool = False) -> PlayCommands:
        """Play commands with the plan's idle cycles; gives the sequence that has ended."""
        plan = self.testbench.plan
        sequence = PlayCommands(
            self.environment, self.testbench, commands,
            plan.get("busy", 1.0), plan.get("longest_idle", 1), serves=serves,
        )  # fmt: skip
        await sequence.start()
        return sequence
