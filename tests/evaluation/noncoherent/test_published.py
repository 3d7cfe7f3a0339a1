"""The facts of the thesis: which published traces race, by which rule, and on which hardware."""

import pytest

from racetrap.evaluation.noncoherent.published import PUBLISHED, rules_of
from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem, OperationKind
from racetrap.sim.accelerator.compiled.detector import run_compiled

_BY_NAME = {trace.name: trace for trace in PUBLISHED}
_MEMORY = MemorySystem(line_bytes=64, granule_bytes=64)


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("Figure 4.3", ()),
        ("vbw_vec_add_t, Figure 5.2", ("2b", "5b")),
        ("vbw_mtx_motest, as logged", ("6b",)),
        ("vbw_mtx_motest, corrected", ()),
        ("vbw_vec_power_t, Figure 5.3", ()),
        ("vbw_vec_power_t, Figure 5.4", ("1c",)),
    ],
)
def test_mode_thesis(name, rules):
    assert rules_of(_BY_NAME[name], "thesis") == _BY_NAME[name].rules == rules
    assert len(PUBLISHED) == 6


def test_vector_addition_races_where_figure_5_2_says():
    trace = _BY_NAME["vbw_vec_add_t, Figure 5.2"]
    found = run_compiled(Noncoherent(_MEMORY, "thesis"), trace.operations)
    races = {race.rule: race for race in found.races}
    copy, dma = races[Rule.UNCACHED_WRITE_DIRTY], races[Rule.DMA_READ_DIRTY]
    assert (dma.earlier.kind, dma.later.kind) == (
        OperationKind.CACHED_WRITE, OperationKind.DMA_READ
    )  # fmt: skip
    assert (dma.first, dma.last) == (0x120F070, 0x120F07F)
    assert copy.later.number < dma.later.number
    assert not copy.is_false_sharing
    assert dma.is_false_sharing  # by itself: the damage is done by the write-back over the copy


@pytest.mark.parametrize("mode", ["thesis", "strict"])
@pytest.mark.parametrize("name", ["vbw_vec_add_t, Figure 5.2", "vbw_mtx_motest, corrected"])
def test_both_races_are_layouts(mode, name):
    """Where lines are no longer than the allocator's padding they cannot happen."""
    short = MemorySystem(line_bytes=16, granule_bytes=16)
    assert rules_of(_BY_NAME[name], mode, short) == ()
