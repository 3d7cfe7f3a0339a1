"""Region that HiRace monitors for a trace.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.fit import check_geometry
from racetrap.verdict.gpu.fit import region_of as wanted_region


def around(region: Region, params: HiraceParams) -> Region:
    """A region, enlarged to at least as many words as the window."""
    size_log2 = max(region.size_log2, params.min_region_log2)
    return Region(region.data_base >> size_log2 << size_log2, size_log2)


def region_of(trace: Trace, params: HiraceParams) -> Region:
    """The monitored region for a trace."""
    return around(wanted_region(trace), params)


def check_fit(trace: Trace, params: HiraceParams) -> None:
    """Raise ``ValueError`` if a configuration is too small for a trace's GPU or region."""
    check_geometry(trace.header.geometry, params)
    region_of(trace, params).check(params)
