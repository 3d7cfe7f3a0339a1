"""Litmus tests as kernels of which a launch runs many instances, each in memory of its own.

An instance's threads are spread over blocks, warps and lanes as the test says.  Before the test
they wait for each other (for a limited time) and then for a random time; they may have loaded the
test's variables before, by weak loads whose values nobody uses.  None of this adds an outcome:
without the loads an execution stays consistent.

Ref: Sorensen and Donaldson, "Exposing Errors Related to Weak Memory in GPU Applications"
(PLDI'16); PTX ISA 9.0, Section 8.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from racetrap.golden_model.ptx_memory_model.litmus.condition import (
    observed_in,
    print_observed,
)
from racetrap.golden_model.ptx_memory_model.litmus.instructions import (
    Address,
    Arithmetic,
    AsyncCopy,
    Atomic,
    ClusterBarrier,
    Comparison,
    CopyArrive,
    CtaBarrier,
    Instruction,
    Load,
    MbarrierArrive,
    MbarrierWait,
    Operand,
    Store,
)
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest

#: Instances of a group of blocks whose threads share nothing but global memory.
PARALLEL = 128
_WARP = 32
_HEAD = """.version 9.0
.target sm_90
.address_size 64

.visible .entry litmus(
  .param .u64 memory, .param .u64 results, .param .u64 counters, .param .u64 places,
  .param .u64 scratch, .param .u32 groups, .param .u32 stride, .param .u32 region,
  .param .u32 seed, .param .u32 delay, .param .u32 flags, .param .u32 preload, .param .u32 stress
)"""
_START = """
  ld.param.u64 %memory, [memory];
  ld.param.u64 %results, [results];
  ld.param.u64 %counters, [counters];
  ld.param.u64 %places, [places];
  ld.param.u64 %scratch, [scratch];
  ld.param.u32 %groups, [groups];
  ld.param.u32 %stride, [stride];
  ld.param.u32 %region, [region];
  ld.param.u32 %seed, [seed];
  ld.param.u32 %delay, [delay];
  ld.param.u32 %flags, [flags];
  ld.param.u32 %preload, [preload];
  ld.param.u32 %stress, [stress];
  mov.u32 %block, %ctaid.x;
  mad.wide.u32 %places, %block, 4, %places;
  ld.global.u32 %slot, [%places];
  div.u32 %group, %slot, {blocks};
  rem.u32 %cta, %slot, {blocks};
  mov.u32 %thread, %tid.x;
  and.b32 %lane, %thread, 31;
  shr.u32 %warp, %thread, 5;
  setp.ge.u32 %p, %group, %groups;
  @%p bra STRESS;
"""
#: Wait for the group's other warps, at most for some thousand tries; then for a random time.
_MEET = """
  mad.wide.u32 %counters, %group, 4, %counters;
  and.b32 %tries, %flags, 4;
  setp.eq.u32 %p, %tries, 0;
  @%p bra MET;
  setp.ne.u32 %p, %lane, 0;
  @%p bra MET;
  red.relaxed.gpu.global.add.u32 [%counters], 1;
  mov.u32 %tries, 0;
WAIT:
  ld.relaxed.gpu.global.u32 %seen, [%counters];
  add.u32 %tries, %tries, 1;
  setp.lt.u32 %p, %seen, {meeting};
  setp.lt.and.u32 %p, %tries, 2000, %p;
  @%p bra WAIT;
MET:
  {together}
  and.b32 %tries, %flags, 2;
  setp.ne.u32 %p, %tries, 0;
  selp.u32 %hash, %warp, %thread, %p;
  mad.lo.u32 %hash, %hash, 2654435761, %seed;
  mad.lo.u32 %hash, %block, 2246822519, %hash;
  shr.u32 %seen, %hash, 15;
  xor.b32 %hash, %hash, %seen;
  mul.lo.u32 %hash, %hash, 3266489917;
  shr.u32 %hash, %hash, 8;
  and.b32 %hash, %hash, %delay;
LINGER:
  setp.eq.u32 %p, %hash, 0;
  @%p bra LINGERED;
  sub.u32 %hash, %hash, 1;
  mov.u32 %seen, %clock;
  bra LINGER;
LINGERED:
"""
_STRESS = """
STRESS:
  mad.lo.u32 %hash, %block, 747796405, %thread;
  add.u32 %hash, %hash, %seed;
AGAIN:
  setp.eq.u32 %p, %stress, 0;
  @%p bra CALM;
  sub.u32 %stress, %stress, 1;
  mad.lo.u32 %hash, %hash, 1664525, 1013904223;
  shr.u32 %seen, %hash, 14;
  mad.wide.u32 %address, %seen, 4, %scratch;
  ld.relaxed.gpu.global.u32 %tries, [%address];
  add.u32 %tries, %tries, %hash;
  st.relaxed.gpu.global.u32 [%address], %tries;
  bra AGAIN;
CALM:
  ret;
}}
"""
_REGISTERS = """
  .reg .pred %p, %q;
  .reg .b32 %groups, %stride, %region, %seed, %delay, %flags, %preload, %stress, %block, %slot,
    %group, %cta, %thread, %lane, %warp, %tries, %seen, %hash, %instance, %role, %sum;
  .reg .b64 %memory, %results, %counters, %places, %scratch, %address, %result, %wide;
"""


class UnsupportedTestError(ValueError):
    """A test that is not made a kernel, with the reason."""


@dataclass(frozen=True)
class LitmusKernel:
    """A test as PTX, and what a launch needs to know.

    Parameters
    ----------
    name, text : str
        Name of the test, and PTX with the kernel ``litmus``.
    blocks, threads, instances, cluster : int
        Blocks of a group, threads of a block, instances of a group, blocks of a cluster (1 if the
        test has none).
    variables : tuple of (int, int)
        Bytes and initial value of each variable in global memory.
    columns : tuple of (str, int)
        What is observed, with the number of its variable if it is read from memory, else -1.
    """

    name: str
    text: str
    blocks: int
    threads: int
    instances: int
    cluster: int
    variables: tuple[tuple[int, int], ...]
    columns: tuple[tuple[str, int], ...]

    @property
    def line(self) -> str:
        """Line of the litmus driver's list, behind the file."""
        numbers = [self.blocks, self.threads, self.instances, self.cluster, len(self.variables)]
        for size, value in self.variables:
            numbers += [size, value]
        numbers += [len(self.columns), *(number for _, number in self.columns)]
        return " ".join(map(str, numbers))


@dataclass
class _Roles:
    """Places of a test's threads in a group of blocks."""

    test: LitmusTest
    cluster: int = 1
    ctas: dict[tuple[int, int], int] = field(default_factory=dict)
    warps: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = [thread.place for thread in self.test.threads]
        owners = [each.owner for each in self.test.variables if each.owner is not None]
        if any(place.gpu for place in [*places, *owners]):
            raise UnsupportedTestError("It needs two GPUs.")
        clusters: dict[int, set[int]] = defaultdict(set)
        for place in [*places, *owners]:
            clusters[place.cluster].add(place.cta)
        self.cluster = max(map(len, clusters.values()))
        for number, cluster in enumerate(sorted(clusters)):
            for inside, cta in enumerate(sorted(clusters[cluster])):
                self.ctas[cluster, cta] = number * self.cluster + inside
        self.blocks = len(clusters) * self.cluster
        for cta in range(self.blocks):
            here = [place.warp for place in places if self.cta_of(place) == cta]
            self.warps[cta] = sorted(set(here))

    def cta_of(self, place: object) -> int:
        """Number of the block of a place in its group."""
        return self.ctas[place.cluster, place.cta]  # type: ignore[attr-defined]

    def threads_in(self, cta: int) -> list[int]:
        """Threads of a block."""
        threads = enumerate(self.test.threads)
        return [number for number, each in threads if self.cta_of(each.place) == cta]


def litmus_kernel(test: LitmusTest) -> LitmusKernel:
    """Make a test a kernel.

    Raises
    ------
    UnsupportedTestError
        If it needs two GPUs, never ends, or observes what is not read back.
    """
    if not test.ends:
        raise UnsupportedTestError("It never ends.")
    return _Writer(test).kernel()


class _Writer:
    """Writes the kernel of a test."""

    def __init__(self, test: LitmusTest) -> None:
        self._test = test
        self._roles = _Roles(test)
        self._shared = [each for each in test.variables if each.owner is not None]
        self._global = [each for each in test.variables if each.owner is None]
        self._columns = observed_in(test.condition)
        operations = [each.operation for thread in test.threads for each in thread.instructions]
        alone = any(
            not isinstance(each, Load | Store | Atomic | Arithmetic | Comparison)
            and "fence" not in str(each)
            for each in operations
        )
        warps = [(self._roles.cta_of(each.place), each.place.warp) for each in test.threads]
        self._parallel = not (alone or self._shared or len(set(warps)) < len(warps))
        if self._roles.cluster > 1:
            self._parallel = False
        names = {each.name for each in self._shared}
        if names.intersection(what for what in self._columns if isinstance(what, str)):
            raise UnsupportedTestError("Its condition names a variable in shared memory.")

    def kernel(self) -> LitmusKernel:
        """The kernel."""
        roles, most = self._roles, max(map(len, self._roles.warps.values()))
        instances = PARALLEL if self._parallel else 1
        threads = _WARP * most * (PARALLEL // _WARP if self._parallel else 1)
        body = self._parallel_places() if self._parallel else self._single_places(most)
        # Which warps meet: all that have a thread of the test.
        meeting = sum(map(len, roles.warps.values())) * (threads // most // _WARP)
        together = "bar.warp.sync 0xffffffff;" if self._parallel else ""
        text = "\n".join([
            _HEAD, f".explicitcluster .reqnctapercluster {roles.cluster}" * (roles.cluster > 1),
            "{", _REGISTERS.rstrip(), *self._declarations(),
            _START.format(blocks=roles.blocks), body, *self._addresses(), *self._preloads(),
            _MEET.format(meeting=meeting, together=together), *self._bodies(),
            _STRESS.format(),
        ])  # fmt: skip
        places = {variable.name: number for number, variable in enumerate(self._global)}
        return LitmusKernel(
            self._test.name, text, roles.blocks, threads, instances, roles.cluster,
            tuple((each.type.size, each.value) for each in self._global),
            tuple(
                (print_observed(what), places[what] if isinstance(what, str) else -1)
                for what in self._columns
            ),
        )  # fmt: skip

    def _parallel_places(self) -> str:
        """Role and instance of a thread: lanes and further warps are further instances."""
        lines = []
        for cta, warps in self._roles.warps.items():
            lines += [f"  setp.eq.u32 %p, %cta, {cta};", f"  @%p bra CTA{cta};"]
            assert warps or self._roles.blocks > 1
        lines.append("  ret;")
        for cta, warps in self._roles.warps.items():
            here = self._roles.threads_in(cta)
            lines += [
                f"CTA{cta}:", f"  div.u32 %instance, %warp, {max(len(warps), 1)};",
                f"  rem.u32 %role, %warp, {max(len(warps), 1)};",
                f"  setp.ge.u32 %p, %instance, {PARALLEL // _WARP};", "  @%p ret;",
                "  mad.lo.u32 %instance, %instance, 32, %lane;", "  mov.u32 %seen, %role;",
            ]  # fmt: skip
            for index, number in enumerate(here):
                lines += [
                    f"  setp.eq.u32 %p, %seen, {index};", f"  @%p mov.u32 %role, {number};",
                ]  # fmt: skip
            lines.append("  bra PLACED;")
        return "\n".join([
            *lines, "PLACED:",
            # Another permutation of the instances for each role.
            "  and.b32 %tries, %flags, 1;", "  setp.ne.u32 %p, %tries, 0;",
            "  mad.lo.u32 %hash, %role, 74, 1;", "  mul.lo.u32 %seen, %instance, %hash;",
            "  mad.lo.u32 %seen, %role, 43, %seen;", f"  and.b32 %seen, %seen, {PARALLEL - 1};",
            "  @%p mov.u32 %instance, %seen;",
            f"  mad.lo.u32 %instance, %group, {PARALLEL}, %instance;",
        ])  # fmt: skip

    def _single_places(self, most: int) -> str:
        """Role of a thread, after shared variables are initialised; others end."""
        lines = ["  mov.u32 %instance, %group;", "  mov.u32 %role, 0xffffffff;"]
        for number, thread in enumerate(self._test.threads):
            cta = self._roles.cta_of(thread.place)
            warp = self._roles.warps[cta].index(thread.place.warp)
            lines += [
                f"  setp.eq.u32 %p, %cta, {cta};",
                f"  setp.eq.and.u32 %p, %thread, {warp * _WARP + thread.place.lane}, %p;",
                f"  @%p mov.u32 %role, {number};",
            ]
        for variable in self._shared:
            lines += [
                f"  setp.eq.u32 %p, %cta, {self._roles.cta_of(variable.owner)};",
                "  setp.eq.and.u32 %p, %thread, 0, %p;",
                (
                    f"  @%p mbarrier.init.shared.b64 [v_{variable.name}], {variable.value};"
                    if variable.is_mbarrier
                    else f"  @%p st.shared.b{variable.type.bits} [v_{variable.name}], "
                    f"{variable.value};"
                ),
            ]
        if self._roles.cluster > 1:
            lines += ["  barrier.cluster.arrive;", "  barrier.cluster.wait;"]
        else:
            lines.append("  barrier.cta.sync 0;")
        return "\n".join([*lines, "  setp.eq.u32 %p, %role, 0xffffffff;", "  @%p ret;"])

    def _declarations(self) -> list[str]:
        lines = [
            f"  .shared .align 16 .b8 v_{each.name}[{max(16, each.type.size)}];"
            for each in self._shared
        ]
        lines += [f"  .reg .b64 %a_{each.name}, %s_{each.name};" for each in self._test.variables]
        for number, thread in enumerate(self._test.threads):
            for name, kind in self._registers(number).items():
                lines.append(f"  .reg .{kind} %t{number}_{name[1:]};")
            del thread
        return lines

    def _addresses(self) -> list[str]:
        lines = []
        for number, variable in enumerate(self._global):
            lines += [
                f"  mul.wide.u32 %wide, %region, {number};", "  add.u64 %wide, %wide, %memory;",
                f"  mad.wide.u32 %a_{variable.name}, %instance, %stride, %wide;",
            ]  # fmt: skip
        for variable in self._shared:
            name = variable.name
            lines.append(f"  mov.u64 %s_{name}, v_{name};")
            if self._roles.cluster > 1:
                inside = self._roles.cta_of(variable.owner) % self._roles.cluster
                lines += [
                    f"  mapa.shared::cluster.u64 %s_{name}, %s_{name}, {inside};",
                    f"  cvta.shared::cluster.u64 %a_{name}, %s_{name};",
                ]
            else:
                lines.append(f"  cvta.shared.u64 %a_{name}, %s_{name};")
        return lines

    def _preloads(self) -> list[str]:
        """Weak loads whose values nobody uses, so that caches hold the variables."""
        lines = ["  mov.u32 %sum, 0;"]
        for number, variable in enumerate(self._global):
            if variable.type.size < 4:
                continue
            lines += [
                f"  and.b32 %tries, %preload, {1 << number};", "  setp.ne.u32 %p, %tries, 0;",
                f"  @%p ld.weak.global.u32 %seen, [%a_{variable.name}];",
                "  @%p xor.b32 %sum, %sum, %seen;",
            ]  # fmt: skip
        return [
            *lines,
            "  setp.eq.u32 %p, %sum, 0x5a17c0de;",
            "  @%p st.global.u32 [%scratch], %sum;",
        ]

    def _bodies(self) -> list[str]:
        lines = []
        for number in range(len(self._test.threads)):
            lines += [f"  setp.eq.u32 %p, %role, {number};", f"  @%p bra ROLE{number};"]
        lines.append("  ret;")
        for number, thread in enumerate(self._test.threads):
            lines.append(f"ROLE{number}:")
            given = {r: v for (t, r), v in self._test.registers.items() if t == number}
            for name, kind in self._registers(number).items():
                value = given.get(name, 0)
                register = f"%t{number}_{name[1:]}"
                lines.append(
                    f"  setp.ne.u32 {register}, {value}, 0;" if kind == "pred"
                    else f"  mov.{kind} {register}, {value};"
                )  # fmt: skip
            lines += [f"  {self._instruction(number, each)};" for each in thread.instructions]
            lines += self._results(number)
            if self._shared and self._roles.cluster > 1:
                lines += ["  barrier.cluster.arrive;", "  barrier.cluster.wait;"]
            lines.append("  ret;")
        return lines

    def _results(self, number: int) -> list[str]:
        lines = []
        size = 8 * len(self._columns)
        for column, what in enumerate(self._columns):
            if isinstance(what, str) or what[0] != number:
                continue
            register, kind = f"%t{number}_{what[1][1:]}", self._registers(number)[what[1]]
            lines += [
                {
                    "pred": f"  selp.u64 %wide, 1, 0, {register};",
                    "b32": f"  cvt.u64.u32 %wide, {register};",
                    "b64": f"  mov.b64 %wide, {register};",
                }[kind],
                f"  mad.wide.u32 %result, %instance, {size}, %results;",
                f"  st.global.u64 [%result+{8 * column}], %wide;",
            ]
        return lines

    def _instruction(self, number: int, instruction: Instruction) -> str:
        """PTX of an instruction, with our names of registers and addresses."""
        operation = instruction.operation
        space = getattr(getattr(operation, "access", None), "space", "")
        is_shared = space.startswith("shared") or isinstance(operation, CopyArrive)
        text = re.sub(r"%(\w+)", rf"%t{number}_\1", str(instruction))
        first = [isinstance(operation, AsyncCopy)]

        def address(match: re.Match[str]) -> str:
            prefix = "s" if is_shared or first[0] else "a"
            first[0] = False
            return f"[%{prefix}_{match[1]}{match[2] or ''}]"

        return re.sub(r"\[(\w+)(\+\d+)?\]", address, text)

    def _registers(self, number: int) -> dict[str, str]:
        """Registers of a thread with their types."""
        found: dict[str, str] = {}

        def add(operand: Operand | object, kind: str) -> None:
            is_register = isinstance(operand, str) and operand.startswith("%")
            if is_register and found.setdefault(str(operand), kind) != kind:
                raise UnsupportedTestError(f"Register {operand} has two types.")

        for instruction in self._test.threads[number].instructions:
            operation = instruction.operation
            if instruction.guard is not None:
                add(instruction.guard.register, "pred")
            kind = self._kind(operation)
            for field_name, value in vars(operation).items():
                own = kind
                if field_name == "destination":
                    own = self._destination(operation, kind)
                elif field_name == "predicate" and value is not None:
                    value, own = value.register, "pred"
                elif field_name in ("barrier", "count"):
                    own = "b32"
                elif field_name == "state":
                    own = "b64"
                elif field_name == "phase":
                    own = "b32" if operation.by_parity else "b64"  # type: ignore[union-attr]
                if isinstance(value, Address):
                    continue
                for each in value if isinstance(value, tuple) else (value,):
                    add(each, own)
        for what in self._columns:
            if not isinstance(what, str) and what[0] == number:
                add(what[1], found.get(what[1], "b32"))
        for thread, register in self._test.registers:
            if thread == number:
                add(register, found.get(register, "b32"))
        return found

    @staticmethod
    def _kind(operation: object) -> str:
        if isinstance(operation, Load | Store | Atomic | Arithmetic | Comparison):
            if operation.type.bits not in (32, 64):
                raise UnsupportedTestError(f"It has accesses of {operation.type.bits} bits.")
            return f"b{operation.type.bits}"
        return "b32"

    @staticmethod
    def _destination(operation: object, kind: str) -> str:
        if isinstance(operation, Comparison | MbarrierWait):
            return "pred"
        if isinstance(operation, CtaBarrier):
            return "b32" if operation.action == "red.popc" else "pred"
        if isinstance(operation, MbarrierArrive | ClusterBarrier):
            return "b64"
        return kind
