"""Limits of cost figures: uses that they do not allow."""

from __future__ import annotations

from collections.abc import Iterable

_ALL = (
    "Every block is synthesised on its own, some are parts of others, and synthesis shares and "
    "drops logic across boundaries: the blocks do not add up to the system.",
    "Trace ports are left out, as a chip has none.",
    "Nothing here says anything about power.",
    "State that the papers count is not area: neither paper gives LUTs, gates, area or clock.",
)
_FPGA = (
    "LUTs of different families differ in inputs and in what packs with them: do not compare "
    "families by them.",
    "Fmax is of a block alone between shift registers, from a timing model without margin: not "
    "the clock of a system or of a board; few seeds say little (--seeds 8).",
)
_XC7 = "xc7 is synthesised only, by Yosys: not what the vendor's tools would give, and no Fmax."
_ASIC = (
    "asic is cell area before placement: no wiring, clock tree, buffers, test or timing, and "
    "memories are left out as macros of their own; not for comparison with areas of other "
    "libraries or processes."
)


def limits(targets: Iterable[str]) -> list[str]:
    """Sentences for figures of targets: families, or families with a device."""
    families = {target.split()[0] for target in targets}
    return [
        *_ALL,
        *(_FPGA if families - {"asic"} else ()),
        *([_XC7] if "xc7" in families else []),
        *([_ASIC] if "asic" in families else []),
    ]
