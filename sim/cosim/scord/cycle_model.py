"""ScoRD cycle by cycle, without the hardware: when it does what a GPU around it sees.

Trackers, interleaver, metadata window, check pipeline and AXI4 port take the cycles of the RTL;
what a step finds follows from the order of the packets, as in the compiled scoreboard.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from ctypes import CDLL, POINTER, byref, c_int, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.cosim.scord.compiled_settings import (
    SCORD_TWINS,
    regions_of_launch,
    settings_of,
)
from racetrap.sim.gpu.timing.detector_ports import (
    PORT_TWINS,
    DetectorPorts,
    SliceCycle,
    SmCycle,
)

_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c++20", "-O3")
_FUNCTIONS: Functions = {
    "racetrap_scord_cycles_new": (c_void_p, [c_void_p, c_void_p, c_uint64]),
    "racetrap_scord_cycles_delete": (None, [c_void_p]),
    "racetrap_scord_cycles_launch": (None, [c_void_p, c_uint64, c_void_p, c_uint64]),
    "racetrap_scord_cycles_cycle": (c_int, [c_void_p, POINTER(SmCycle), POINTER(SliceCycle)]),
}
#: Parameters that the model does not have, and their values without.
_ABSENT = {
    "access_buffer_depth": 0, "access_policy": AccessPolicy.STALL, "local_bytes": 0, "regions": 1,
    "valid_segments": 0,
}  # fmt: skip


def has_no_model(params: ScordParams) -> list[str]:
    """Names of the parameters because of which a configuration has no model of its cycles."""
    return [name for name, value in _ABSENT.items() if getattr(params, name) != value]


class CycleModel:
    """A detector after a launch; metadata reads are answered without errors.

    Parameters
    ----------
    params : ScordParams
        Configuration: metadata behind AXI4, one region, without access buffers and without a table
        of valid segments.
    region : MonitoredRegion
        Monitored region.

    Raises
    ------
    Failure
        If the library cannot be compiled.
    ValueError
        If the model does not have a parameter, or the region cannot be used.
    """

    def __init__(self, params: ScordParams, region: MonitoredRegion) -> None:
        for name in has_no_model(params):
            raise ValueError(
                f"Parameter {name} must be {_ABSENT[name]} for the model of cycles, "
                f"not {getattr(params, name)}"
            )
        region.check(params)
        self._params, self._library = params, _library()
        rows = regions_of_launch(params, region)
        self._detector = self._library.racetrap_scord_cycles_new(
            byref(settings_of(params, region)), rows.ctypes.data, len(rows)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._library.racetrap_scord_cycles_delete(self._detector)

    def launch(self, region: MonitoredRegion) -> None:
        """Forget metadata, locks, fences and barriers, as a launch does.

        Nothing may be in flight.
        """
        region.check(self._params)
        rows = regions_of_launch(self._params, region)
        self._library.racetrap_scord_cycles_launch(
            self._detector, region.metadata_base, rows.ctypes.data, len(rows)
        )

    def detector_ports(self) -> DetectorPorts:
        """The model for a GPU around it that decides each cycle what its ports do."""
        return DetectorPorts(
            self._library.racetrap_scord_cycles_cycle, self._detector, self._params.sm_count,
            self._params.metadata_ports,
        )  # fmt: skip


@cache
def _library() -> CDLL:
    """The shared library, compiled once."""
    folders = (_FOLDER / "cycles", _FOLDER / "compiled")
    headers = [path for folder in folders for path in folder.glob("*.h")]
    sources = sorted([_FOLDER / "cycles" / "cycles.cpp", *headers])
    twins = (*SCORD_TWINS, *PORT_TWINS)
    return compiled_library("scord_cycles", sources, _OPTIONS, _FUNCTIONS, twins)
