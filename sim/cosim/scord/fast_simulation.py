"""Fast simulation of a ScoRD system, launch by launch.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.golden_model.scord.packets import Packet, Step
from racetrap.sim.cosim.gpu.gpu_simulation import GpuSimulation


class FastSim(GpuSimulation):
    """A ScoRD system after reset, with memories behind its ports."""

    step_type, packet_type = Step, Packet
