"""Final states: registers, and contents of memory when all threads have ended.

The end of a kernel is ordered after all operations of its threads, so each byte of memory holds the
value of a write that is last in coherence order; of writes that race, each may be last.

Ref: PTX ISA 9.0, Sections 8.9.4 (API synchronization) and 8.9.6 (Coherence Order).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from racetrap.golden_model.ptx_memory_model.candidates.evaluation import Evaluation
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run
from racetrap.golden_model.ptx_memory_model.candidates.values import Constant
from racetrap.golden_model.ptx_memory_model.events import Location
from racetrap.golden_model.ptx_memory_model.litmus.condition import Observed
from racetrap.golden_model.ptx_memory_model.relation import Relation, bits_of


def final_numbers(
    run: Run, evaluation: Evaluation, coherence_order: Relation, location: Location
) -> set[int]:
    """Possible final numbers of a location."""
    numbers = {0}
    for offset, address in enumerate(location.bytes):
        writers = run.structure.writers[address]
        last = [write for write in bits_of(writers) if not coherence_order.rows[write] & writers]
        held = {evaluation.byte(write, address) for write in last}
        numbers = {number | byte << 8 * offset for number in numbers for byte in held}
    return numbers


def final_states(
    run: Run, evaluation: Evaluation, coherence_order: Relation, observed: Sequence[Observed],
    locations: dict[str, Location],
) -> Iterator[dict[Observed, int]]:  # fmt: skip
    """Final states as far as they are ``observed``."""
    choices = []
    for what in observed:
        if isinstance(what, str):
            location = locations[what]
            choices.append(sorted(final_numbers(run, evaluation, coherence_order, location)))
        else:
            # A register that is never written keeps its initial 0.
            choices.append([evaluation.value(run.registers.get(what, Constant(0)))])
    for numbers in product(*choices):
        yield dict(zip(observed, numbers, strict=True))
