"""Order in which memory has performed strong accesses, beside that of their transactions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import unpack_column
from racetrap.sim.cosim.vortex.observed import Observed
from racetrap.sim.cosim.vortex.simulation import VortexRun


class _Access(NamedTuple):
    """A strong access to a word: the cycles in which the detector accepted it and memory performed
    it, and the place of its instruction."""

    accepted: int
    performed: int
    core: int
    pc: int


def check_order(run: VortexRun, observed: list[list[Observed]]) -> int:
    """Compare, of each word, the order of strong accesses in memory with that of the transactions.

    Left out are loads from LOCK, which are performed before the detector has their transaction, and
    instructions with several requests, whose words are performed one after the other.

    Parameters
    ----------
    run : VortexRun
        A launch beside a detector that orders accesses.
    observed : list of list of Observed
        Instructions of each core.

    Returns
    -------
    int
        Accesses compared.

    Raises
    ------
    Mismatch
        At the first word at which they differ.
    """
    words: dict[int, list[_Access]] = defaultdict(list)
    for core, each in enumerate(observed):
        for word, access in _accesses(run, core, each):
            words[word].append(access)
    for word, accesses in words.items():
        for one, other in pairwise(sorted(accesses)):
            if one.accepted < other.accepted and one.performed > other.performed:
                raise Mismatch(
                    f"Word {WORD_BYTES * word:#x}: memory must perform the access of core "
                    f"{one.core} at pc {one.pc:#x}, which the detector accepted in cycle "
                    f"{one.accepted}, before that of core {other.core} at pc {other.pc:#x}, of "
                    f"cycle {other.accepted}, not in cycles {one.performed} and {other.performed}"
                )
    return sum(map(len, words.values()))


def _accesses(run: VortexRun, core: int, observed: list[Observed]) -> Iterator[tuple[int, _Access]]:
    """Strong accesses of a core with their words; each of a warp has its next transactions."""
    accepted = _accepted(run, core)
    numbers, cycles = run.performed(core)
    requests, performed = Counter(numbers), dict(zip(numbers, cycles, strict=True))
    for each in observed:
        one = each.instruction
        if not one.strong or each.number is None:
            continue
        for _ in set(one.addresses):
            cycle, word = next(accepted[one.warp])
            if requests[each.number] == 1 and not one.is_cas:
                yield word, _Access(cycle, performed[each.number], core, one.pc)


def _accepted(run: VortexRun, core: int) -> dict[int, Iterator[tuple[int, int]]]:
    """Cycle and word of the strong accesses of each warp, in the order of their transactions."""
    layout, rows = run.params.transaction_layout, run.transactions(core)
    columns = (unpack_column(layout, rows, name).tolist() for name in ("warp", "strong", "word"))
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for warp, is_strong, word, cycle in zip(*columns, run.accepted(core), strict=True):
        if is_strong:
            found[warp].append((cycle, word))
    return {warp: iter(accesses) for warp, accesses in found.items()}
