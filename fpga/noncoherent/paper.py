"""Cost figures of the thesis: none."""

from __future__ import annotations

from racetrap.fpga.cost.papers import Paper
from racetrap.golden_model.noncoherent.params import NoncoherentParams

#: The thesis builds no hardware.
PAPER = Paper("Young (UBC 2020)", NoncoherentParams(), ())
