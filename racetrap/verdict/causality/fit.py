"""Region that causality monitors for a trace.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.fit import check_geometry
from racetrap.verdict.gpu.fit import region_of as wanted_region


def around(region: Region, params: CausalityParams) -> Region:
    """A region, or a larger one around it that has as many words as the window."""
    size_log2 = max(region.size_log2, params.min_region_log2)
    return Region(region.data_base >> size_log2 << size_log2, size_log2)


def region_of(trace: Trace, params: CausalityParams) -> Region:
    """The region that is monitored for a trace."""
    return around(wanted_region(trace), params)


def check_fit(trace: Trace, params: CausalityParams) -> None:
    """Raise ``ValueError`` if a configuration has no room for a trace's GPU or its region."""
    check_geometry(trace.header.geometry, params)
    region_of(trace, params).check(params)
