"""State bits of a configuration by kind: needed by the method, and present in the hardware.

Ref: ScoRD (ISCA'20) Section IV-C; SigRace (ISCA'09) Section 5.5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from racetrap.generators.structure import StateBits, state_bits
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of


@dataclass(frozen=True)
class StatePart:
    """State of one kind.

    Parameters
    ----------
    kind : str
        Kind.
    method : int
        Bits that the method needs, as the paper counts them; 0 for kinds of the implementation
        only.
    flip_flops, memory_bits : int
        Bits of the elaborated design, before synthesis removes any.
    """

    kind: str
    method: int
    flip_flops: int
    memory_bits: int


def state_parts(params: Params) -> list[StatePart]:
    """State of the whole system by kind; every module of the design is in exactly one kind.

    Raises
    ------
    ValueError
        If a module with state belongs to no kind.
    """
    system = system_of(params)
    method = system.method_bits(params)
    kinds = system.state_kinds
    built = dict.fromkeys([*kinds, *method], StateBits())
    for path, bits in state_bits(system.top(params)).items():
        kind = next((kind for kind, rule in kinds.items() if re.search(rule, path)), None)
        if kind is None:
            raise ValueError(f"Module with state must belong to a kind, not {path}")
        built[kind] += bits
    return [
        StatePart(kind, method.get(kind, 0), bits.flip_flops, bits.memory_bits)
        for kind, bits in built.items()
    ]
