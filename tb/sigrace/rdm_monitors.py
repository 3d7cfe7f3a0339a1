"""Monitors of the RDM's trace ports.

Ref: SigRace (ISCA'09) Section 3.2.
"""

from __future__ import annotations

from pyuvm import uvm_component

from racetrap.golden_model.sigrace.packets import RdmStep
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.tb.stream_agent import StreamMonitor


def rdm_monitors(parent: uvm_component, port: str, params: SigraceParams) -> list[StreamMonitor]:
    """Make a monitor for each scanner's trace port.

    Parameters
    ----------
    parent : uvm_component
        The environment.
    port : str
        Name of the port, which is an array if there are several scanners.
    params : SigraceParams
        Configuration.
    """
    several = params.scanners > 1
    return [
        StreamMonitor(
            f"{port}_{number}", parent, f"{port}__{number}" if several else port,
            params.rdm_step_layout, RdmStep,
        )
        for number in range(params.scanners)
    ]  # fmt: skip
