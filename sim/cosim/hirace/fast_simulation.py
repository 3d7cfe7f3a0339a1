"""Fast simulation of a HiRace system, launch by launch."""

from __future__ import annotations

from racetrap.golden_model.hirace.packets import Packet, Step
from racetrap.sim.cosim.gpu.gpu_simulation import GpuSimulation


class FastSim(GpuSimulation):
    """A HiRace system after reset, with memories behind its ports."""

    step_type, packet_type = Step, Packet
