"""The whole HiRace detector, between a GPU's SMs and its memory.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from racetrap.rtl.gpu.interleaver import Interleaver
from racetrap.rtl.gpu.system import GpuSystem
from racetrap.rtl.hirace import registers
from racetrap.rtl.hirace.detector_bank import DetectorBank
from racetrap.rtl.hirace.tracker import Tracker


class HiraceSystem(GpuSystem):
    """HiRace's trackers and banks; each bank takes one packet a cycle."""

    register_module = registers
    tracker, interleaver, bank = Tracker, Interleaver, DetectorBank
