"""Frame of one call of a function: the registers and parameters of each lane of a warp.

Registers are rows of 32 values.  Parameters of calls are rows of bytes, one a lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.program import CallSite, CompiledFunction


class Frame:
    """State of one call.

    Parameters
    ----------
    rows : list of numpy.ndarray
        Row views that the function's code reads and writes by their number.
    banks : list of numpy.ndarray
        The bytes behind them.
    parameters : dict of str to numpy.ndarray
        Bytes of each parameter, shape (32, size).
    """

    __slots__ = (
        "banks", "caller", "depth", "function", "local_base", "parameters", "reconvergence",
        "rows", "site",
    )  # fmt: skip

    function: CompiledFunction
    site: CallSite

    def __init__(
        self,
        rows: list[np.ndarray],
        banks: list[np.ndarray],
        parameters: dict[str, np.ndarray],
    ):
        self.rows = rows
        self.banks = banks
        self.parameters = parameters
        self.caller: Frame | None = None
        self.local_base = self.depth = 0
        #: Reconvergence point of the branch that was open when the function called another.
        self.reconvergence = -1

    def clear(self) -> None:
        """Make every register and parameter 0."""
        for bank in self.banks:
            bank.fill(0)
