"""Base of every UVM test: environment, clock, the test itself, coverage."""

from __future__ import annotations

import logging
from typing import Any

from pyuvm import ConfigDB, uvm_env, uvm_root, uvm_test

from racetrap.tb.testbench import Testbench


class BaseTest(uvm_test):
    """Builds the environment, starts the clock, runs :meth:`body`, writes coverage.

    A test overrides ``body``, a system's own base class ``environment_class``.
    """

    environment_class: type[uvm_env]

    def build_phase(self) -> None:
        self.testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        self.environment: Any = self.environment_class("environment", self)

    async def run_phase(self) -> None:
        self.raise_objection()
        await self.testbench.clocking.start()
        await self.body()
        self.testbench.note({"coverage": self.environment.scoreboard.coverage.to_json()})
        self.drop_objection()

    async def body(self) -> None:
        """The test itself."""
        raise NotImplementedError


async def run_test(dut: Any, test: type[BaseTest]) -> None:
    """Run a UVM test on a device; pyuvm itself keeps state, so give each a process."""
    logging.getLogger().setLevel(logging.WARNING)
    testbench = Testbench(dut)
    testbench.note({
        "test": test.__name__,
        "system": testbench.plan["system"],
        "seed": testbench.plan["seed"],
    })  # fmt: skip
    root = uvm_root()
    root.clear_singletons(set())
    ConfigDB().set(None, "*", "TESTBENCH", testbench)
    await uvm_root().run_test(test, keep_singletons=True)
