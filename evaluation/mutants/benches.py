"""Mutants of a block alone, in the benches that the tests of the checkout have for it.

They need sources that are not installed: those of the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import racetrap
from racetrap.evaluation.mutants.block_library import BlockLibrary, build_block
from racetrap.evaluation.mutants.run import BlockRun, Finding, Outcome, alone
from racetrap.evaluation.processes import cpu_seconds
from racetrap.generators.presets import find_preset, module_name
from racetrap.generators.systems import system_of
from racetrap.sim.cosim.verilator.mutants import is_inside

#: Sources that the result of benches depends on, besides the build.
BENCH_SOURCES = (
    "golden_model/**/*.py", "../tests/support/**/*.py", "evaluation/mutants/run.py",
    "evaluation/mutants/benches.py", "evaluation/mutants/block_library.py",
)  # fmt: skip
#: What a bench raises when a block does what it must not.
_DIFFERENCE = (AssertionError, TimeoutError, LookupError, OverflowError, ValueError)


@dataclass(frozen=True)
class BenchRun(BlockRun):
    """Benches that a mutant is run in.

    Parameters
    ----------
    preset : str
        Name of the preset.
    benches : tuple of str
        Blocks whose benches are run, in order.
    """

    preset: str
    benches: tuple[str, ...]


@cache
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
    started, params = cpu_seconds(), find_preset(run.preset).params
    for selected in run.mutant.selections:
        for block in run.benches:
            library = build_block(run.folder, f"{module_name(run.preset)}_{block}")
            bench = benches_of(run.preset)[block]
            if said := first_difference(bench, library, selected, params):
                said = f"bench of {block}, {said}"
                return Finding(Outcome.KILLED, None, said, cpu_seconds() - started)
    return Finding(Outcome.SURVIVED, seconds=cpu_seconds() - started)


def first_difference(bench: Any, library: BlockLibrary, selected: int, params: Any) -> str:
    """First seed with which a bench finds a difference, and that; empty if none does.

    Each runs in a process of its own, which may not have run a model before: that has threads.

    Parameters
    ----------
    bench : BlockBench
        The bench, as ``tests.support.rtl.block_bench`` defines it.
    library : BlockLibrary
        What it plays.
    selected : int
        The mutant selected in it; 0: none.
    params : Params
        What the bench is given besides.
    """
    stands_for = _of_tests("rtl.verilated_block").VerilatedBlock

    def make(*arguments: Any) -> Any:
        return stands_for(bench.component(*arguments), library, selected)

    for seed in range(bench.seeds):
        if said := alone(partial(_difference, bench.play, make, params, seed)):
            return f"seed {seed}: {said}"
    return ""


def _of_tests(name: str) -> Any:
    return import_module(f"tests.support.{name}")


def _difference(play: Any, make: Any, params: Any, seed: int) -> str:
    try:
        play(make, params, seed)
    except _DIFFERENCE as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""
