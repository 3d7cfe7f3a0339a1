"""Mutants of the blocks of the live system, and of the bus monitor's taps, in their benches.

``python -m tests.soc_mutants [COUNT [BLOCK ...]]`` draws COUNT (20 unless given) mutants of each
module of each block, or of those that are named, runs them in the block's bench with several seeds,
and tries to prove those that no seed kills to be equivalent.  It prints a row of each module, and
the survivors.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from racetrap.evaluation.mutants.benches import first_difference
from racetrap.evaluation.mutants.block_library import BlockLibrary, build_block
from racetrap.evaluation.mutants.equivalence import (
    BY_STRUCTURE,
    FAST_PROOFS,
    SLOW_PROOFS,
    Proof,
    holds,
)
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
from tests.support.rtl.block_bench import BlockBench, Make
from tests.support.soc.arbiter_bench import arbiter_problems
from tests.support.soc.cache_bench import fills_unlike_lru, wrong_words

_SEEDS, _PROOF_SECONDS = 7, 30
_LANES, _DEPTH = 3, 4
_NO_MODEL = "No SAT model available"


def _cache(params: CacheParams) -> BlockBench:
    def play(make: Make, _: None, seed: int) -> None:
        # That a line in use stays is no matter of data: a count of fills shows it.
        if seed % 2 and not params.write_through:
            assert not fills_unlike_lru(make(), params, seed=seed)
        else:
            assert wrong_words(make(), params, 150, seed) == 0

    return BlockBench(partial(Cache, params), play, _SEEDS)


def _arbiter(make: Make, _: None, seed: int) -> None:
    assert arbiter_problems(make(), seed) == []


def _rvfi(make: Make, _: None, seed: int) -> None:
    found, due = rvfi_found_and_due(make(), seed)
    assert found == due


def _descriptors(make: Make, _: None, seed: int) -> None:
    found, due = descriptor_found_and_due(make(), REGISTERS, seed)
    assert found == due


def _queue(make: Make, _: None, seed: int) -> None:
    differing, _ = queue_differs(make(), _LANES, _DEPTH, seed)
    assert differing == []


def benches() -> dict[str, BlockBench]:
    """Benches by the name of the block."""
    monitor = PARAMS.monitor
    return {
        "cache": _cache(CacheParams(8, 16, ways=2)),
        "cache_through": _cache(CacheParams(4, 16, write_through=True)),
        "memory_arbiter": BlockBench(MemoryArbiter, _arbiter, _SEEDS),
        "rvfi_tap": BlockBench(partial(RvfiTap, PARAMS), _rvfi, _SEEDS),
        "descriptor_tap": BlockBench(
            partial(DescriptorTap, monitor, REGISTERS, 1), _descriptors, _SEEDS
        ),
        "tap_queue": BlockBench(partial(TapQueue, monitor, _LANES, _DEPTH), _queue, _SEEDS),
    }


def _outcome(bench: BlockBench, library: BlockLibrary, folder: Path, mutant: Mutant) -> str:
    if any(first_difference(bench, library, each, None) for each in mutant.selections):
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
        said = first_difference(bench, library, 0, None)
        assert not said, f"{name} differs without a mutant, {said}"
        found: dict[str, Counter[str]] = {}
        survivors = []
        for mutant in read_mutants(folder):
            outcome = _outcome(bench, library, folder, mutant)
            found.setdefault(mutant.block, Counter())[outcome] += 1
            if outcome == "survived":
                survivors.append(f"{name}, {mutant.name}")
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
