"""Places for fences, by the order in which accesses may come next."""

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.stress.synchronisation import Action, Synchronisation

#: A poll, then one of two loads; a store of the data, then of the flag.
TEXT = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  .loc 1 1 1
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], 7;
  .loc 1 2 1
  membar.gl;
  .loc 1 3 1
  st.volatile.global.u32 [%rd1+4], 1;
POLL:
  .loc 1 4 1
  ld.volatile.global.u32 %r1, [%rd1+8];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra POLL;
  setp.eq.u32 %p2, %r1, 1;
  @%p2 bra OTHER;
  .loc 1 5 1
  ld.global.u32 %r2, [%rd1+12];
  ret;
OTHER:
  .loc 1 6 1
  ld.global.u32 %r2, [%rd1+16];
  ret;
}
.file 1 "k.cu"
"""


def test_fences_belong_next_behind_reads_and_before_writes():
    program = Synchronisation(parse_ptx(TEXT, "k.ptx").functions.values())
    assert program.slots() == [
        Action("insert", "k.cu:1"), Action("insert", "k.cu:4"), Action("insert", "k.cu:5"),
        Action("insert", "k.cu:6"), Action("insert", "k.cu:3"), Action("insert_after", "k.cu:4"),
    ]  # fmt: skip
    assert program.following("k.cu:4") == {"k.cu:5", "k.cu:6"}
    assert program.behind["k.cu:2"] == {"k.cu:3"}


def test_a_fence_after_a_line_is_before_whatever_comes_next():
    program = Synchronisation(parse_ptx(TEXT, "k.ptx").functions.values())
    narrow, wide = (Order.ACQ_REL, Scope.CTA), (Order.ACQ_REL, Scope.GPU)
    five, six = (program.before[place][0] for place in ("k.cu:5", "k.cu:6"))
    after = Action("insert_after", "k.cu:4")
    assert program.changes({after: narrow}).inserted == {five: narrow, six: narrow}
    both = program.changes({Action("insert", "k.cu:5"): wide, after: narrow})
    assert both.inserted == {five: wide, six: narrow}


def test_no_fence_is_after_a_line_if_what_comes_next_may_come_after_another():
    """Before each next line it would order what that other line does, too."""
    text = TEXT.replace("POLL:\n", "  @%p3 bra OTHER;\nPOLL:\n")
    assert "k.cu:4" in Synchronisation(parse_ptx(TEXT, "k.ptx").functions.values()).after
    program = Synchronisation(parse_ptx(text, "k.ptx").functions.values())
    assert not program.after
    # Before line 6 it would be of use on one of two paths only, so before a strong write is better.
    assert [place for _, place in program.slots()[-3:]] == ["k.cu:6", "k.cu:3", "k.cu:5"]
