"""Device functions: parameters, results, recursion, lanes that return early."""

import pytest

from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.ptx.errors import PtxError
from tests.support.gpu.ptx_kernels import Run

FACTORIAL = """
.func (.param .b32 result) factorial(.param .b32 n)
{
.local .align 4 .b8 saved[4];
.reg .b32 %r<6>; .reg .pred %p<2>;
ld.param.u32 %r1, [n];
st.local.u32 [saved], %r1;
st.param.b32 [result], 1;
setp.lt.u32 %p1, %r1, 2;
@%p1 ret;
sub.u32 %r2, %r1, 1;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;
call.uni (b), factorial, (a); ld.param.b32 %r3, [b]; }
ld.local.u32 %r4, [saved];
mul.lo.u32 %r3, %r3, %r4;
st.param.b32 [result], %r3;
ret;
}
"""
CALL = """{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
    call.uni (b), factorial, (a); ld.param.b32 %r2, [b]; }
    st.global.u32 [%d33], %r2;"""


@pytest.mark.parametrize("independent", [False, True])
def test_divergent_recursion(independent):
    run = Run("and.b32 %r1, %r31, 7;" + CALL, outside=FACTORIAL, independent_threads=independent)
    assert run.out()[:32].tolist() == [1, 1, 2, 6, 24, 120, 720, 5040] * 4
    kinds = [event.kind.name for event in run.events("IF", "ELSE", "FI")]
    assert kinds.count("IF") == kinds.count("FI") == (0 if independent else 6)


def test_endless_recursion_is_stopped():
    with pytest.raises(ExecutionError, match=r"test.ptx:\d+: Calls nest more than 256 deep"):
        Run("mov.u32 %r1, 1000000;" + CALL, outside=FACTORIAL)


def test_structures_by_value():
    outside = """
    .func (.param .align 8 .b8 result[16]) swap(.param .align 8 .b8 pair[16])
    {
    .reg .b64 %d<3>; .reg .b32 %r<3>;
    ld.param.u64 %d1, [pair]; ld.param.v2.u32 {%r1, %r2}, [pair+8];
    st.param.v2.b32 [result], {%r1, %r2}; st.param.b64 [result+8], %d1;
    ret;
    }
    """
    run = Run(
        """{ .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16];
        mov.u64 %d1, 7; st.param.b64 [a], %d1; st.param.b32 [a+8], %r31; st.param.b32 [a+12], 3;
        call.uni (b), swap, (a); ld.param.b32 %r1, [b]; ld.param.b32 %r2, [b+4];
        ld.param.b64 %d2, [b+8]; }
        cvt.u32.u64 %r3, %d2; mad.lo.u32 %r1, %r2, 1000, %r1; mad.lo.u32 %r1, %r3, 100000, %r1;
        st.global.u32 [%d33], %r1;""",
        outside=outside,
        block=8,
    )
    assert run.out()[:8].tolist() == [703000 + lane for lane in range(8)]


def test_results_are_those_of_the_lanes_that_called():
    outside = ".func (.param .b32 result) one() { st.param.b32 [result], 1; ret; }"
    run = Run(
        """{ .param .b32 b; st.param.b32 [b], 5; setp.lt.u32 %p1, %r31, 4; @%p1 bra SKIP;
        call.uni (b), one, (); SKIP: ld.param.b32 %r1, [b]; } st.global.u32 [%d33], %r1;""",
        outside=outside,
        block=8,
    )
    assert run.out()[:8].tolist() == [5] * 4 + [1] * 4


def test_lanes_may_end_in_a_function():
    outside = ".func stop() { .reg .b32 %r<2>; .reg .pred %p<2>; mov.u32 %r1, %tid.x;" \
              "setp.lt.u32 %p1, %r1, 3; @%p1 exit; ret; }"  # fmt: skip
    run = Run("call.uni stop, (); st.global.u32 [%d33], 1;", outside=outside, block=5)
    assert run.out()[:5].tolist() == [0, 0, 0, 1, 1]
    assert [event.mask for event in run.events("EXIT")] == [0b00111, 0b11000]


@pytest.mark.parametrize(
    ("outside", "body", "message"),
    [
        (
            ".func f(.param .b32 a);",
            "call.uni f, ();",
            r":\d+: Called function f is only declared",
        ),
        (".func f(.param .b32 a) { ret; }", "call.uni f, ();", "Arguments of a call must be 1"),
        (".func f() { ret; }", "@%p1 call f, ();", "cannot have a guard"),
    ],
)
def test_calls_that_cannot_be(outside, body, message):
    with pytest.raises((PtxError, ExecutionError), match=message):
        Run(body, outside=outside)


FUNCTIONS = """
.func (.param .b32 result) twice(.param .b32 n)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [n]; add.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret; }
.func (.param .b32 result) square(.param .b32 n)
{ .reg .b32 %r<2>; ld.param.u32 %r1, [n]; mul.lo.u32 %r1, %r1, %r1; st.param.b32 [result], %r1;
  ret; }
.func nothing() { ret; }
.global .align 8 .u64 table[2] = {twice, square};
"""
CALL_REGISTER = """{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r31;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (b), %d1, (a), prototype; ld.param.b32 %r2, [b]; }
    st.global.u32 [%d33], %r2;"""
ODD = "and.b32 %r1, %r31, 1; setp.eq.u32 %p1, %r1, 1;"


@pytest.mark.parametrize("independent", [False, True])
def test_lanes_call_different_functions(independent):
    choice = f"{ODD} mov.u64 %d1, twice; mov.u64 %d2, square; selp.b64 %d1, %d2, %d1, %p1;"
    run = Run(choice + CALL_REGISTER, outside=FUNCTIONS, independent_threads=independent)
    assert run.out()[:32].tolist() == [n * n if n % 2 else 2 * n for n in range(32)]
    # All reconverge behind the call.
    assert [len(event.lanes) for event in run.events("STORE")] == [32]
    assert len(run.events("IF", "ELSE", "FI")) == (0 if independent else 3)


def test_functions_whose_addresses_are_in_memory():
    body = f"{ODD} mul.wide.u32 %d1, %r1, 8; mov.u64 %d2, table; add.u64 %d2, %d2, %d1;"
    run = Run(body + "ld.global.u64 %d1, [%d2];" + CALL_REGISTER, outside=FUNCTIONS)
    assert run.out()[:32].tolist() == [n * n if n % 2 else 2 * n for n in range(32)]


@pytest.mark.parametrize("address", ["mov.u64 %d1, 5;", "mov.u64 %d1, nothing;"])
def test_an_address_of_no_function_of_the_type(address):
    with pytest.raises(
        ExecutionError, match=r"Called address .* is not that of a function of this"
    ):
        Run(address + CALL_REGISTER, outside=FUNCTIONS)
