"""The accesses that findings name agree with the reports, in random runs of every kind."""

from dataclasses import asdict

import pytest

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import Region, ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.presenters.scord_races import find_races, finding_to_dict
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events

_REGION = Region(0x10000, 12)


def _owner(finding, params):
    """The earlier party as the hardware's report names it."""
    return params.block_id(finding.earlier.sm, finding.earlier.slot), finding.earlier.warp


@pytest.mark.parametrize("knobs", sorted(KNOBS))
@pytest.mark.parametrize("changes", [{}, {"banks": 2, "granularity": 8}], ids=["plain", "banks"])
def test_both_parties_are_those_of_the_report(knobs, changes):
    params = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, **changes)
    events = list(random_events(params, _REGION, KNOBS[knobs], seed=5, instructions=800))
    scord = Scord(params, _REGION)
    findings = find_races(events, params, _REGION, scord)
    assert [finding.report for finding in findings] == scord.races
    for finding in findings:
        report, access = finding.report, finding.access
        assert (report.block, report.warp) == (params.block_id(access.sm, access.slot), access.warp)
        assert (report.owner_block, report.owner_warp) == _owner(finding, params)
        assert (report.pc, PacketKind(report.kind).name.lower()) == (access.pc, access.kind)
        assert (finding.earlier.kind == "atomic") == bool(report.owner_is_atom)
        assert finding.earlier.event <= access.event
        assert events[finding.earlier.event].pc == finding.earlier.pc
        assert finding_to_dict(finding)["access"] == asdict(access)
    # Runs that only stream may be free of races.
    assert findings or knobs == "streaming"


def test_metadata_from_before_a_launch_is_forgotten():
    params = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4)
    once = list(random_events(params, _REGION, KNOBS["contended"], seed=1, instructions=300))
    findings = find_races(once * 2, params, _REGION)
    second = [f for f in findings if f.access.event >= len(once)]
    assert len(second) * 2 == len(findings) > 0
    assert all(finding.earlier.event >= len(once) for finding in second)
