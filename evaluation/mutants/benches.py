"""Mutants of a block alone, in the benches that the tests of the checkout have for it.

They need sources that are not installed: those of the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import racetrap
from racetrap.evaluation.mutants.block_library import build_block
from racetrap.evaluation.mutants.run import Finding, Outcome, alone
from racetrap.evaluation.processes import cpu_seconds
from racetrap.generators.presets import find_preset, module_name
from racetrap.generators.systems import system_of
from racetrap.sim.cosim.verilator.mutants import Mutant, is_inside

#: Sources that the result of benches depends on, besides the build.
BENCH_SOURCES = (
    "golden_model/**/*.py", "../tests/support/**/*.py", "evaluation/mutants/run.py",
    "evaluation/mutants/benches.py", "evaluation/mutants/block_library.py",
)  # fmt: skip
#: What a bench raises when a block does what it must not.
_DIFFERENCE = (AssertionError, TimeoutError, LookupError, OverflowError, ValueError)


@dataclass(frozen=True)
class BenchRun:
    """Benches that a mutant is run in.

    Parameters
    ----------
    folder : Path
        Folder of the build with all mutants.
    design : str
        Hash of the design in it.
    preset : str
        Name of the preset.
    mutant : Mutant
        Which one.
    benches : tuple of str
        Blocks whose benches are run, in order.
    """

    folder: Path
    design: str
    preset: str
    mutant: Mutant
    benches: tuple[str, ...]


def benches_of(preset: str) -> Mapping[str, Any]:
    """Benches of a preset's blocks, by name of the block; none without the tests' sources."""
    root = Path(racetrap.__path__[0]).parent
    params = find_preset(preset).params
    name = f"{system_of(params).name}/block_benches"
    if not (root / f"tests/support/{name}.py").exists():
        return {}
    if str(root) not in sys.path:
        sys.path.append(str(root))
    found: Mapping[str, Any] = _of_tests(name.replace("/", ".")).benches(params)
    return found


def benches_around(preset: str, block: str) -> tuple[str, ...]:
    """Blocks with a bench that are ``block`` or have it inside, the innermost first."""
    around = (each for each in benches_of(preset) if is_inside(block, each))
    return tuple(sorted(around, key=len, reverse=True))


def run_benches(run: BenchRun) -> Finding:
    """Run benches of a mutant until one differs."""
    started = cpu_seconds()
    # Equal changes in several instances may undo one another.
    for selected in (run.mutant.number, *filter(None, [run.mutant.alone])):
        for block in run.benches:
            if said := _first_difference(run, block, selected):
                return Finding(Outcome.KILLED, None, said, cpu_seconds() - started)
    return Finding(Outcome.SURVIVED, seconds=cpu_seconds() - started)


def _first_difference(run: BenchRun, block: str, selected: int) -> str:
    bench, params = benches_of(run.preset)[block], find_preset(run.preset).params
    library = build_block(run.folder, f"{module_name(run.preset)}_{block}")
    stands_for = _of_tests("rtl.verilated_block").VerilatedBlock

    def make(*arguments: Any) -> Any:
        return stands_for(bench.component(*arguments), library, selected)

    for seed in range(bench.seeds):
        if said := alone(partial(_difference, bench.play, make, params, seed)):
            return f"bench of {block}, seed {seed}: {said}"
    return ""


def _of_tests(name: str) -> Any:
    return import_module(f"tests.support.{name}")


def _difference(play: Any, make: Any, params: Any, seed: int) -> str:
    try:
        play(make, params, seed)
    except _DIFFERENCE as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""
