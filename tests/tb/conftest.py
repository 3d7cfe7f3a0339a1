"""Fixtures of the cocotb testbenches: one simulator process a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from racetrap.generators.presets import find_preset
from racetrap.generators.systems import system_of
from racetrap.sim.cosim.verilator.cocotb_build import BuiltModel, build
from racetrap.sim.cosim.verilator.cocotb_run import RunResult, run
from racetrap.sim.cosim.verilator.patch import Patch


@pytest.fixture(scope="session")
def model() -> Callable[..., BuiltModel]:
    """Function that builds a preset, perhaps with changed parameters or a planted bug."""

    def make(preset: str, patch: Patch | None = None, **changes: Any) -> BuiltModel:
        return build(preset, replace(find_preset(preset).params, **changes), patch=patch)

    return make


@pytest.fixture
def testbench(tmp_path: Path, seed: int) -> Callable[..., RunResult]:
    """Function that runs all tests of a testbench module; ``SimulationError`` if there is none."""

    def play(model: BuiltModel, module: str, plan: dict[str, Any], **options: Any) -> RunResult:
        result = run(
            model, f"racetrap.tb.{system_of(model.params).name}.{module}", tmp_path, plan,
            seed=seed, stall_seconds=300, **options,
        )  # fmt: skip
        print(f"{module} on {model.preset}, seed {seed}: log in {tmp_path / 'simulation.log'}")
        return result

    return play
