"""State bits of a configuration by kind: what the method needs beside what the hardware has.

Ref: ScoRD (ISCA'20) Section IV-C.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from racetrap.generators.structure import StateBits, state_bits
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.state import state_bits as method_bits
from racetrap.rtl.scord.system import ScordSystem

__all__ = ["StatePart", "state_parts"]

#: Kind of the state of a module by its path; the first pattern that matches counts.  The first
#: three kinds are the method's own, the others explain what the hardware has on top.
_KINDS = {
    "lock_tables": r"\.tracker_\d+\.lock_tables",
    "barrier_ids": r"\.tracker_\d+\.barrier_ids",
    "fence_files": r"\.bank_\d+\..*fence_file",
    "tracker_pipelines": r"\.(tracker|gate)_\d+",
    "interleaver": r"\.interleaver",
    "packet_fifos": r"\.bank_\d+\.(fifo|located)",
    "report_fifos": r"\.bank_\d+\.reports",
    "metadata_windows": r"\.bank_\d+\.accessor",
    "check_pipelines": r"\.bank_\d+",
    "local_memory": r"\.local_memory_\d+",
    "report_path": r"\.report_path",
    "registers": r"\.(registers|launch_control)|^top$",
}


@dataclass(frozen=True)
class StatePart:
    """State of one kind.

    Parameters
    ----------
    kind : str
        Kind.
    method : int
        Bits that the method needs, as the paper counts them; 0 for what only the
        implementation has.
    flip_flops, memory_bits : int
        Bits that the elaborated design has, before synthesis drops any.
    """

    kind: str
    method: int
    flip_flops: int
    memory_bits: int


def state_parts(params: ScordParams) -> list[StatePart]:
    """State of the whole system by kind; every module of the design is in exactly one kind.

    Raises
    ------
    ValueError
        If a module with state belongs to no kind.
    """
    method = method_bits(params)
    built = dict.fromkeys(_KINDS, StateBits())
    for path, bits in state_bits(ScordSystem(params)).items():
        kind = next((kind for kind, rule in _KINDS.items() if re.search(rule, path)), None)
        if kind is None:
            raise ValueError(f"Module with state must belong to a kind, not {path}")
        built[kind] += bits
    return [
        StatePart(kind, method.get(kind, 0), bits.flip_flops, bits.memory_bits)
        for kind, bits in built.items()
    ]
