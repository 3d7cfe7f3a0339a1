"""Configurations of SigRace that tests go through."""

from __future__ import annotations

from racetrap.golden_model.sigrace.params import Form, SigraceParams

#: Table 5: bits of the LSB portion.
_PORTIONS = {"B1": 8, "B2": 10, "B3": 16}
#: Table 6: filters, and bits of each.
_ORGANISATIONS = {
    "S1": (16, 256), "S2": (16, 128), "S3": (16, 64),
    "S4": (8, 512), "S5": (8, 256), "S6": (8, 128),
}  # fmt: skip
#: The paper's 18 signature configurations.
SIGNATURES = [f"{portion}_{shape}" for portion in _PORTIONS for shape in _ORGANISATIONS]
#: So small that every limit is met soon.
SMALL = SigraceParams(
    cores=2, threads=3, filters=4, filter_bits=32, block_instructions=50, history_depth=4,
    timestamp_bits=6, log_depth=2, log_blocks=2, trap_depth=2, usb_limit=4, link_depth=4,
)  # fmt: skip


def signature_params(name: str, form: Form | None = None) -> SigraceParams:
    """One of the paper's configurations; B3 exists with hashed signatures only."""
    portion, shape = name.split("_")
    lsb_bits = _PORTIONS[portion]
    filters, filter_bits = _ORGANISATIONS[shape]
    form = form or (Form.HASHED if lsb_bits > 12 else Form.SETS)
    return SigraceParams(lsb_bits=lsb_bits, filters=filters, filter_bits=filter_bits, form=form)
