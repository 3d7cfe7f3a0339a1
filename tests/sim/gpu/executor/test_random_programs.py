"""Random structured programs: both kinds of warp against an interpreter of one thread."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gpu.ptx_kernels import QUICK, Run

REGISTERS = 4
WORD = 2**32
OPERATIONS = {
    "add.u32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "xor.b32": lambda a, b: a ^ b,
    "and.b32": lambda a, b: a & b,
    "min.u32": min,
}

registers = st.integers(0, REGISTERS - 1)
#: A register is compared by its low bits, so that lanes often differ.
conditions = st.tuples(registers, st.sampled_from([1, 3, 7]), st.integers(0, 7))
assignments = st.tuples(
    st.just("set"), st.sampled_from(sorted(OPERATIONS)), registers, registers, st.integers(0, 9)
)
simple = st.one_of(
    assignments,
    st.tuples(st.just("guarded"), conditions, st.booleans(), assignments),
    st.tuples(st.just("exit"), conditions),
    st.tuples(st.just("break"), conditions),
    st.tuples(st.just("vote"), registers),
)


def compound(body):
    block = st.lists(body, max_size=4)
    return st.one_of(
        st.tuples(st.just("if"), conditions, block, block),
        st.tuples(st.just("loop"), conditions, st.integers(1, 4), block),
        st.tuples(st.just("call"), registers),
    )


programs = st.lists(
    st.recursive(simple, lambda body: st.one_of(body, compound(body)), max_leaves=12), max_size=6
)


class Emitter:
    """PTX of a program; ``%r0`` to ``%r3`` are its registers."""

    def __init__(self):
        self.labels = self.counters = 0

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def condition(self, condition):
        register, mask, limit = condition
        return f"and.b32 %r20, %r{register}, {mask}; setp.lt.u32 %p1, %r20, {limit};"

    def block(self, statements, after=None):
        return "\n".join(self.statement(statement, after) for statement in statements)

    def statement(self, statement, after):
        match statement:
            case ("set", name, target, source, value):
                return f"{name} %r{target}, %r{source}, {value};"
            case ("guarded", condition, negated, assignment):
                guard = "@!%p1" if negated else "@%p1"
                return f"{self.condition(condition)} {guard} {self.statement(assignment, None)}"
            case ("exit", condition):
                return f"{self.condition(condition)} @%p1 bra END;"
            case ("break", condition):
                return f"{self.condition(condition)} @%p1 bra {after};" if after else ""
            case ("vote", register):
                # Any lane that is alone gives the same as it would in company.
                return (
                    f"activemask.b32 %r21; shfl.sync.idx.b32 %r{register}, %r{register}, %r22, "
                    "31, %r21;"
                )
            case ("call", register):
                return (
                    f"{{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r{register}; "
                    f"call.uni (b), odd, (a); ld.param.b32 %r{register}, [b]; }}"
                )
            case ("if", condition, yes, no):
                other, done = self.label(), self.label()
                return (
                    f"{self.condition(condition)} @!%p1 bra {other};\n{self.block(yes, after)}\n"
                    f"bra {done};\n{other}:\n{self.block(no, after)}\n{done}:"
                )
            case ("loop", condition, count, body):
                self.counters += 1
                counter, again, done = f"%r{100 + self.counters}", self.label(), self.label()
                return (
                    f".reg .b32 {counter}; mov.u32 {counter}, 0;\n{again}:\n"
                    f"{self.block(body, done)}\nadd.u32 {counter}, {counter}, 1; "
                    f"setp.ge.u32 %p2, {counter}, {count}; @%p2 bra {done};\n"
                    f"{self.condition(condition)} @%p1 bra {again};\n{done}:"
                )
        raise AssertionError(statement)


class Stop(Exception):
    """The thread has ended."""


class Break(Exception):
    """The thread has left its loop."""


def holds(values, condition):
    register, mask, limit = condition
    return values[register] & mask < limit


def interpret(statements, values, looping=False):
    """Run one thread."""
    for statement in statements:
        match statement:
            case ("set", name, target, source, value):
                values[target] = OPERATIONS[name](values[source], value) % WORD
            case ("guarded", condition, negated, assignment):
                if holds(values, condition) != negated:
                    interpret([assignment], values)
            case ("exit", condition):
                if holds(values, condition):
                    raise Stop
            case ("break", condition):
                if looping and holds(values, condition):
                    raise Break
            case ("call", register):
                value = values[register]
                values[register] = (3 * value + 1) % WORD if value & 1 else value // 2
            case ("if", condition, yes, no):
                interpret(yes if holds(values, condition) else no, values, looping)
            case ("loop", condition, count, body):
                try:
                    for _ in range(count):
                        interpret(body, values, True)
                        if not holds(values, condition):
                            break
                except Break:
                    pass


ODD = """
.func (.param .b32 result) odd(.param .b32 value)
{
.reg .b32 %r<4>; .reg .pred %p<2>;
ld.param.u32 %r1, [value]; and.b32 %r2, %r1, 1; shr.u32 %r3, %r1, 1; st.param.b32 [result], %r3;
setp.eq.u32 %p1, %r2, 0; @%p1 ret;
mad.lo.u32 %r3, %r1, 3, 1; st.param.b32 [result], %r3; ret;
}
"""


def threads_of(program, count):
    """Registers of each thread at its end."""
    found = []
    for thread in range(count):
        values = [thread, thread * 5 % WORD, thread ^ 3, 7]
        with suppress(Stop):
            interpret(program, values)
        found.append(values)
    return found


@pytest.mark.parametrize("independent", [False, True])
@QUICK
@given(program=programs, threads=st.integers(1, 70))
def test_programs(independent, program, threads):
    body = (
        "mov.u32 %r0, %r31; mul.lo.u32 %r1, %r31, 5; xor.b32 %r2, %r31, 3; mov.u32 %r3, 7;"
        "and.b32 %r22, %r31, 31;\n"
        + Emitter().block(program)
        + "\nEND: mul.wide.u32 %d1, %r31, 16;"
        "add.u64 %d1, %d1, %d30; st.global.v4.u32 [%d1], {%r0, %r1, %r2, %r3};"
    )
    run = Run(body, outside=ODD, block=threads, words=4 * threads, independent_threads=independent)
    assert run.out().reshape(threads, 4).tolist() == threads_of(program, threads)
    ended = np.bitwise_or.reduce([event.mask for event in run.events("EXIT") if event.warp == 0])
    assert ended == (1 << min(threads, 32)) - 1
