"""Proof: every active lane leaves with one group, and groups come in their order."""

import pytest
from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import In

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.formal.prover import holds_always
from tests.support.planted_bugs import modules_with

_FILE = "gpu/lane_groups.py"
_LANES, _BITS = 5, 2


class GroupsHarness(Harness):
    """Lane groups with free lanes and keys, which may leave as late as they like.

    Parameters
    ----------
    case : Case
        What is asked.
    is_ascending : bool
        Whether groups come by their keys, and leave whole; otherwise any part leaves.
    """

    def __init__(self, case: Case, is_ascending: bool = True):
        self._is_ascending = is_ascending
        groups = modules_with([_FILE], case.bug)[_FILE].LaneGroups
        low_bits = 0 if is_ascending else 1
        self._groups = groups(_LANES, _BITS, low_bits=low_bits, ascending=is_ascending)
        super().__init__(case, {
            "i_start": In(1), "i_lanes": In(_LANES), "i_keys": In(_LANES * _BITS), "i_move": In(1),
            "i_some": In(_LANES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        part, inner = self._groups, OpenComponent(self._groups)
        m.submodules.groups = inner.fragment
        keys, active, due = Signal(_LANES * _BITS), Signal(_LANES), Signal(_LANES)
        starts, leaves = self.i_start & ~part.o_busy, self.i_move & part.o_valid
        some = part.o_same if self._is_ascending else part.o_lead | (part.o_same & self.i_some)
        m.d.comb += [
            part.i_start.eq(starts), part.i_lanes.eq(self.i_lanes), part.i_keys.eq(keys),
            part.i_next.eq(leaves), part.i_group.eq(some),
        ]  # fmt: skip
        with m.If(leaves):
            m.d.sync += due.eq(due & ~some)
        with m.If(starts):
            m.d.sync += [keys.eq(self.i_keys), active.eq(self.i_lanes), due.eq(self.i_lanes)]
        key = [keys.word_select(lane, _BITS) for lane in range(_LANES)]
        lead, least, valid = part.o_lead, part.o_key, part.o_valid
        near = [each[not self._is_ascending :] == least[not self._is_ascending :] for each in key]
        in_order = (
            [~due[lane] | (key[lane] >= least) for lane in range(_LANES)]
            if self._is_ascending
            else [(due & (lead - 1)) == 0]
        )
        is_one = (lead != 0) & ((lead & (lead - 1)) == 0)
        own = Cat(~lead[lane] | (key[lane] == least) for lane in range(_LANES)).all()
        rules = [
            part.o_busy | (due == 0),
            ~valid | (is_one & own & ((lead & due) != 0)),
            part.o_same == (Cat(each == least for each in key) & active),
            part.o_near == (Cat(near) & active),
            *(~valid | each for each in in_order),
        ]
        has_lead, begins, compares = (inner[name] for name in ("has_lead", "begins", "compares"))
        helps = [
            part.o_left == due, inner["active"] == active, (due & ~active) == 0,
            ~(begins & compares), ~(has_lead & (begins | compares)),
            *(~has_lead | each for each in (is_one, own, *in_order)),
            *self._orders(inner, key, begins | has_lead),
        ]  # fmt: skip
        events = {
            "lead-is-gone": has_lead & ~valid,
            "group-of-several": leaves & ((some & (some - 1)) != 0),
            "five-groups": leaves & (some == 16) & (due == 16) & (active == 31),
            "nobody": starts & (self.i_lanes == 0),
        }
        self.state(m, rules, events, helps)
        return m

    def _orders(self, inner: OpenComponent, key: list, is_known) -> list:
        """What was compared at the start."""
        if not self._is_ascending:
            return []
        return [
            ~is_known | (inner[f"known_0_{one}_{other}"] == (key[other] < key[one]))
            for one in range(4)
            for other in range(one + 1, 4)
        ]


PROOF = Proof(
    rule="Each active lane leaves with exactly one group. The lanes of a group have the key of the "
    "lane that leads; groups come by ascending keys, or by their lowest lane.",
    sizes="5 lanes, keys of 2 bits, ascending; also by the lowest lane, with a free part of each "
    "group leaving",
    harness=GroupsHarness,
    depth=3,
    events=("lead-is-gone", "group-of-several", "five-groups", "nobody"),
    bugs={
        "gone-lane-leads": Patch(_FILE, "has_lead & (self.o_lead & left).any()", "has_lead"),
        "least-of-the-first-lanes": Patch(
            _FILE, "least.eq(_first(some, order))", "least.eq(lowest_one_hot(some))"
        ),
        "only-the-lead-leaves": Patch(_FILE, "left & ~self.i_group", "left & ~self.o_lead"),
        "inactive-lanes-access": Patch(_FILE, "near & same & active", "near & same"),
        "order-of-the-instruction-before": Patch(
            _FILE, "(compares if self._ascending else begins).eq(1)", "begins.eq(1)"
        ),
    },
    cycles=12,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
def test_by_the_lowest_lane():
    assert holds_always(GroupsHarness(Case(), is_ascending=False), depth=3)
