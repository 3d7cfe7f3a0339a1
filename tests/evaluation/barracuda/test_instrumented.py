"""Instructions that BARRACUDA instruments, counted by hand."""

from racetrap.evaluation.barracuda.instrumented import instrumented
from racetrap.sim.gpu.ptx.parser import parse_ptx

_PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 data)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [data];
    ld.global.u32 %r1, [%d1];
    ld.global.u32 %r2, [%d1];
    ld.global.u32 %r2, [%d1+4];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    st.global.u32 [%d1], %r2;
    add.s64 %d1, %d1, 8;
    st.global.u32 [%d1], %r2;
    st.global.u32 [%d1], %r1;
    bar.sync 0;
    st.global.u32 [%d1], %r1;
    atom.global.add.u32 %r3, [%d1], 1;
    atom.global.add.u32 %r3, [%d1], 1;
DONE:
    ret;
}
"""


def test_what_is_logged_and_what_is_pruned():
    """Three loads, four stores, two atomics, a barrier and the point where lanes reconverge log;
    the load of a parameter does not.  Pruned are the second load of a word and the second store
    before the barrier."""
    assert instrumented(parse_ptx(_PTX, "k").functions.values()) == (15, 11, 9)


def test_without_a_branch_no_lanes_reconverge():
    text = _PTX.replace("    @%p1 bra DONE;\n", "")
    assert instrumented(parse_ptx(text, "k").functions.values()) == (14, 10, 8)
