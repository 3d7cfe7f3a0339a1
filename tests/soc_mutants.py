"""Mutants of the blocks of the live system, and of the bus monitor's taps, in their benches.

``python -m tests.soc_mutants [COUNT [BLOCK ...]]`` draws COUNT (20 unless given) mutants of each
module of each block, or of those that are named, runs them in the block's bench with several seeds,
and tries to prove those that no seed kills to be equivalent.  It prints a row of each module, and
the survivors.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from racetrap.evaluation.mutants.block_library import BlockLibrary, build_block
from racetrap.evaluation.mutants.equivalence import (
    BY_STRUCTURE,
    FAST_PROOFS,
    SLOW_PROOFS,
    Proof,
    holds,
)
from racetrap.evaluation.mutants.run import alone
from racetrap.evaluation.mutants.table import wilson
from racetrap.generators.verilog import to_verilog
from racetrap.rtl.noncoherent.taps.descriptor_tap import DescriptorTap
from racetrap.rtl.noncoherent.taps.rvfi_tap import RvfiTap
from racetrap.rtl.noncoherent.taps.tap_queue import TapQueue
from racetrap.rtl.soc.cache import Cache, CacheParams
from racetrap.rtl.soc.memory_arbiter import MemoryArbiter
from racetrap.sim.cosim.verilator.build_cache import BACK_DOORS
from racetrap.sim.cosim.verilator.mutants import Mutant, MutantDraw, make_mutants, read_mutants
from racetrap.sim.failure import Failure
from tests.support.noncoherent.taps.benches import (
    descriptor_found_and_due,
    queue_differs,
    rvfi_found_and_due,
)
from tests.support.noncoherent.taps.system import PARAMS, REGISTERS
from tests.support.rtl.verilated_block import VerilatedBlock
from tests.support.soc.arbiter_bench import arbiter_problems
from tests.support.soc.cache_bench import fills_unlike_lru, wrong_words

_SEEDS, _PROOF_SECONDS = range(1, 7), 30
_LANES, _DEPTH = 3, 4
_NO_MODEL = "No SAT model available"
#: What a bench raises when a block does what it must not.
_DIFFERENCE = (AssertionError, TimeoutError, LookupError, OverflowError, ValueError)


@dataclass(frozen=True)
class Bench:
    """A block and what plays it: that gives what is wrong, or raises an error."""

    component: Callable[[], Any]
    play: Callable[[Any, int], object]


def _of_cache(params: CacheParams) -> Bench:
    def play(dut: Any, seed: int) -> object:
        # That a line in use stays is no matter of data: a count of fills shows it.
        if seed % 2 and not params.write_through:
            return fills_unlike_lru(dut, params, seed=seed)
        return wrong_words(dut, params, 150, seed)

    return Bench(partial(Cache, params), play)


def benches() -> dict[str, Bench]:
    """Benches by the name of the block."""
    return {
        "cache": _of_cache(CacheParams(8, 16, ways=2)),
        "cache_through": _of_cache(CacheParams(4, 16, write_through=True)),
        "memory_arbiter": Bench(MemoryArbiter, arbiter_problems),
        "rvfi_tap": Bench(
            partial(RvfiTap, PARAMS), lambda dut, seed: _unequal(rvfi_found_and_due(dut, seed))
        ),
        "descriptor_tap": Bench(
            partial(DescriptorTap, PARAMS.monitor, REGISTERS, 1),
            lambda dut, seed: _unequal(descriptor_found_and_due(dut, REGISTERS, seed)),
        ),
        "tap_queue": Bench(
            partial(TapQueue, PARAMS.monitor, _LANES, _DEPTH),
            lambda dut, seed: queue_differs(dut, _LANES, _DEPTH, seed)[0],
        ),
    }


def _unequal(pair: tuple[object, object]) -> bool:
    return pair[0] != pair[1]


def _difference(bench: Bench, library: BlockLibrary, number: int, seed: int) -> str:
    try:
        wrong = bench.play(VerilatedBlock(bench.component(), library, number), seed)
    except _DIFFERENCE as error:
        return type(error).__name__
    return "differs" if wrong else ""


def _outcome(bench: Bench, library: BlockLibrary, folder: Path, mutant: Mutant) -> str:
    for selected in filter(None, (mutant.number, mutant.alone)):
        if any(alone(partial(_difference, bench, library, selected, seed)) for seed in _SEEDS):
            return "killed"
    proofs = (*BY_STRUCTURE, *FAST_PROOFS, *SLOW_PROOFS)
    return "equivalent" if any(_proved(folder, mutant, proof) for proof in proofs) else "survived"


def _proved(folder: Path, mutant: Mutant, proof: Proof) -> bool:
    try:
        return holds(folder, mutant, proof, _PROOF_SECONDS)
    except Failure as error:
        # Registers that are parts of a wider one cannot be cut out.
        if _NO_MODEL not in str(error):
            raise
        return False


def rows(name: str, count: int) -> Iterator[str]:
    """Results of a block's modules, and its survivors."""
    bench = benches()[name]
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / f"{name}.v").write_text(to_verilog(bench.component(), name), encoding="utf-8")
        (folder / BACK_DOORS).write_text("`verilator_config\n", encoding="utf-8")
        make_mutants(name, folder, MutantDraw((), count, 1))
        library = build_block(folder, name)
        # Never in this process: a model has threads, which a fork would not take along.
        for seed in _SEEDS:
            said = alone(partial(_difference, bench, library, 0, seed))
            assert not said, f"{name} differs without a mutant at seed {seed}: {said}"
        found: dict[str, Counter[str]] = {}
        survivors = []
        for mutant in read_mutants(folder):
            outcome = _outcome(bench, library, folder, mutant)
            found.setdefault(mutant.block, Counter())[outcome] += 1
            if outcome == "survived":
                survivors.append(f"{name}, {mutant.block}: {mutant.change}")
    for block, counts in found.items():
        judged = counts.total() - counts["equivalent"]
        low, high = wilson(counts["killed"], judged)
        yield (
            f"| `{name}`, {block} | {counts.total()} | {counts['equivalent']} | "
            f"{counts['killed']} of {judged} | {100 * low:.1f}-{100 * high:.1f} |"
        )
    yield from survivors


if __name__ == "__main__":
    for block in sys.argv[2:] or benches():
        for row in rows(block, int((sys.argv[1:] or ["20"])[0])):
            print(row, flush=True)
