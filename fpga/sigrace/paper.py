"""Cost figures of the paper, and the same counted from parameters.

Ref: SigRace (ISCA'09) Section 5.5.
"""

from __future__ import annotations

from racetrap.fpga.cost.papers import Figure, Paper
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.state import core_state_bits, thread_state_bits

_BYTE = 8

PAPER = Paper(
    "SigRace (ISCA'09)",
    # The paper keeps signatures at the cores; the preset keeps the sets before hashing.
    SigraceParams(form=Form.HASHED),
    (
        Figure("signature", "bits", 2048, "Section 5.5", lambda params: params.signature_bits),
        Figure("timestamp", "bits", 160, "Section 5.5", lambda params: params.timestamp_width),
        Figure("RDM, a processor", "bytes", 8512, "Section 5.5",
               lambda params: thread_state_bits(params) / _BYTE),
        Figure("core, a processor", "bytes", 808, "Section 5.5",
               lambda params: sum(core_state_bits(params).values()) / _BYTE),
    ),
)  # fmt: skip
