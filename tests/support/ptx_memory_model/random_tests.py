"""Random litmus tests with every construct of the model, from a seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from racetrap.golden_model.ptx_memory_model.litmus import LitmusTest, parse_litmus

_SCOPES = ("cta", "cluster", "gpu", "sys")
_LEVELS = ("cta", "cluster", "gpu", "sys", "mixed")
_THEMES = ("plain", "atomics", "fences", "barriers", "sizes", "copies", "mbarriers", "guards")


def random_litmus_test(seed: int) -> LitmusTest:
    """A test of 2 or 3 threads with up to 4 instructions each, and a condition that names all its
    registers and variables."""
    return parse_litmus(_Writer(Random(seed), f"random-{seed}").text(), f"seed {seed}")


def random_kernel(seed: int) -> LitmusTest:
    """The same with what traces of one GPU have: no reductions, no clusters, barrier 0 of all
    threads of a CTA."""
    random = Random(f"kernel {seed}")
    return parse_litmus(_KernelWriter(random, f"kernel-{seed}").text(), f"seed {seed}")


def random_fenced_kernel(seed: int) -> LitmusTest:
    """The same with ``fence.sc`` between most accesses, and barriers of some threads' choice."""
    random = Random(f"fenced kernel {seed}")
    return parse_litmus(_FencedWriter(random, f"fenced-kernel-{seed}").text(), f"seed {seed}")


def random_barrier_kernel(seed: int) -> LitmusTest:
    """Accesses of one CTA between barriers of some of its threads, at which some only arrive."""
    random = Random(f"barrier kernel {seed}")
    return parse_litmus(_BarrierWriter(random, f"barrier-kernel-{seed}").text(), f"seed {seed}")


def random_flag_kernel(seed: int) -> LitmusTest:
    """A volatile flag ``y`` of several values, stored by one thread, with or without fences."""
    random = Random(f"flag kernel {seed}")
    return parse_litmus(_FlagWriter(random, f"flag-kernel-{seed}").text(), f"seed {seed}")


class _Writer:
    scopes: tuple[str, ...] = _SCOPES
    levels: tuple[str, ...] = _LEVELS
    all_themes: tuple[str, ...] = _THEMES
    thread_counts: tuple[int, ...] = (2, 2, 3)

    def __init__(self, random: Random, name: str) -> None:
        self._random, self._name = random, name
        self._threads = random.choice(self.thread_counts)
        self._themes = random.sample(
            self.all_themes,
            k=random.choice((2, 3)),
        )
        #: Places by how far apart threads are.
        levels = random.choice(self.levels)
        self._places = [self._place(thread, levels) for thread in range(self._threads)]
        self._registers: list[str] = []
        self._next_value = 1

    def _place(self, thread: int, levels: str) -> str:
        if levels == "mixed":
            levels = self._random.choice([level for level in self.levels if level != "mixed"])
        return {
            "cta": "cta 0,cluster 0,gpu 0",
            "cluster": f"cta {thread},cluster 0,gpu 0",
            "gpu": f"cta {thread},cluster {thread},gpu 0",
            "sys": f"cta {thread},cluster {thread},gpu {thread}",
        }[levels]

    def text(self) -> str:
        """The test as text."""
        in_warp = "barriers" in self._themes and self._random.random() < 0.3
        warp = "warp 0," if in_warp else ""
        if in_warp:
            self._places = ["cta 0,cluster 0,gpu 0"] * self._threads
        together = len(set(self._places)) == 1
        columns = [self._column(thread, together) for thread in range(self._threads)]
        length = max(map(len, columns))
        rows = [
            " | ".join(column[row] if row < len(column) else "" for column in columns) + " ;"
            for row in range(length)
        ]
        heads = " | ".join(f"P{thread}@{warp}{place}" for thread, place in enumerate(self._places))
        named = [*self._registers, "x", "y", *(["z"] if "sizes" in self._themes else [])]
        condition = " /\\ ".join(f"{what} = 0" for what in named)
        shared = f"@{self._places[0]}"
        return "\n".join(
            [
                f"PTX {self._name}", "{", "x = 0; y = 0; .u64 z = 0;",
                f".shared .u32 s{shared} = 0; .shared .mbarrier m{shared} = {self._threads};", "}",
                f"{heads} ;", *rows, f"exists ({condition})",
            ]
        )  # fmt: skip

    def _forms(self, together: bool) -> dict[str, list[Callable[[int], list[str]]]]:
        return {
            "plain": [self._load, self._store, self._load, self._store],
            "atomics": [self._atomic],
            "fences": [self._fence],
            "barriers": [self._barrier if together else self._cluster_barrier],
            "sizes": [self._sized],
            "copies": [self._copy if together else self._store],
            "mbarriers": [self._mbarrier if together else self._load],
            "guards": [self._guarded],
        }

    def _column(self, thread: int, together: bool) -> list[str]:
        forms = self._forms(together)
        usable = [*forms["plain"], *(form for theme in self._themes for form in forms[theme])]
        column: list[str] = []
        for _ in range(self._random.randint(1, 4)):
            column += self._random.choice(usable)(thread)
        return column

    def _register(self, thread: int, shown: bool = True) -> str:
        name = f"%r{len(self._registers)}_{self._random.randrange(10**6)}"
        if shown:
            self._registers.append(f"{thread}:{name}")
        return name

    def _value(self, thread: int) -> str:
        mine = [name for name in self._registers if name.startswith(f"{thread}:")]
        if mine and self._random.random() < 0.25:
            return self._random.choice(mine).split(":")[1]
        self._next_value += 1
        return str(self._next_value - 1 if self._random.random() < 0.9 else 0x101)

    def _scope(self) -> str:
        return self._random.choice(self.scopes)

    def _variable(self) -> str:
        return self._random.choice("xy")

    def _load(self, thread: int) -> list[str]:
        how = self._random.choice(("weak", "relaxed", "acquire", "volatile"))
        how += f".{self._scope()}" if how in ("relaxed", "acquire") else ""
        return [f"ld.{how} {self._register(thread)}, [{self._variable()}]"]

    def _store(self, thread: int) -> list[str]:
        how = self._random.choice(("weak", "relaxed", "release", "volatile"))
        how += f".{self._scope()}" if how in ("relaxed", "release") else ""
        return [f"st.{how} [{self._variable()}], {self._value(thread)}"]

    def _atomic(self, thread: int) -> list[str]:
        place = f"[{self._variable()}]"
        if self._random.random() < 0.25:
            order = self._random.choice(("relaxed", "release"))
            return [f"red.{order}.{self._scope()}.add {place}, 1"]
        order = self._random.choice(("relaxed", "acquire", "release", "acq_rel"))
        what = f"atom.{order}.{self._scope()}"
        register = self._register(thread)
        operation = self._random.choice(("add", "exch", "cas", "max", "inc"))
        if operation == "cas":
            return [f"{what}.cas.b32 {register}, {place}, {self._random.choice('01')}, 3"]
        kind = "b32" if operation == "exch" else "u32"
        return [f"{what}.{operation}.{kind} {register}, {place}, {self._value(thread)}"]

    def _fence(self, thread: int) -> list[str]:
        order = self._random.choice(("sc", "sc", "acq_rel", "acquire", "release"))
        return [f"fence.{order}.{self._scope()}"]

    def _barrier(self, thread: int) -> list[str]:
        number = self._random.choice("001")
        choice = self._random.random()
        if choice < 0.4:
            return [f"bar.sync {number}"]
        if choice < 0.5:
            return [f"bar.warp.sync {(1 << self._threads) - 1}"]
        if choice < 0.7:
            action = self._random.choice(("sync", "arrive"))
            return [f"barrier.{action} {number}, {32 * self._threads}"]
        if choice < 0.85:
            operation = self._random.choice(("popc.u32", "and.pred", "or.pred"))
            loaded, voted = self._register(thread), self._register(thread)
            return [
                f"ld.weak {loaded}, [{self._variable()}]",
                f"barrier.red.{operation} {voted}, {number}, {loaded}",
            ]
        return self._cluster_barrier(thread)

    def _cluster_barrier(self, thread: int) -> list[str]:
        order = self._random.choice(("release", "relaxed"))
        return [f"barrier.cluster.arrive.{order}", "barrier.cluster.wait"]

    def _sized(self, thread: int) -> list[str]:
        how = self._random.choice(("weak", "relaxed.gpu", "weak.v2"))
        bits, offset = self._random.choice(((64, 0), (32, 0), (32, 4)))
        if how == "weak.v2":
            bits, offset = 32, 0
        register = self._register(thread)
        place = f"[z+{offset}]"
        if self._random.random() < 0.5:
            shown = f"{{{register}, {self._register(thread)}}}" if "v2" in how else register
            return [f"ld.{how}.u{bits} {shown}, {place}"]
        self._registers.pop()
        number = self._random.choice((1, 0x200000003)) if bits == 64 else self._value(thread)
        return [f"st.{how}.u{bits} {place}, {f'{{{number}, 5}}' if 'v2' in how else number}"]

    def _copy(self, thread: int) -> list[str]:
        copy = f"cp.async.ca.shared.global [s], [{self._variable()}], 4"
        if self._random.random() < 0.3:
            return [copy, "cp.async.mbarrier.arrive.noinc.shared.b64 [m]"]
        loaded = f"ld.weak {self._register(thread)}, [s]"
        wait = self._random.choice(
            (
                ["cp.async.wait_all"],
                ["cp.async.commit_group", f"cp.async.wait_group {self._random.choice('01')}"],
            )
        )
        return [copy, *wait, loaded]

    def _mbarrier(self, thread: int) -> list[str]:
        how = self._random.choice(("release.cta", "relaxed.cta", "release.cluster"))
        state = f"%s{self._random.randrange(10**6)}"
        lines = [f"mbarrier.arrive.{how}.b64 {state}, [m]"]
        if self._random.random() < 0.7:
            order = self._random.choice(("acquire.cta", "relaxed.cta", "acquire.cluster"))
            passed = self._register(thread)
            lines.append(f"mbarrier.test_wait.{order}.b64 {passed}, [m], {state}")
            lines += self._load(thread)
        return lines

    def _guarded(self, thread: int) -> list[str]:
        register, predicate = self._register(thread), f"%p{self._random.randrange(10**6)}"
        test = self._random.choice(("eq", "ne", "lt"))
        negation = self._random.choice(("", "!"))
        body = self._random.choice((self._load, self._store, self._atomic))(thread)
        return [
            f"ld.relaxed.{self._scope()} {register}, [{self._variable()}]",
            f"setp.{test}.u32 {predicate}, {register}, {self._random.choice('12')}",
            *(f"@{negation}{predicate} {line}" for line in body),
        ]


class _KernelWriter(_Writer):
    scopes = ("cta", "gpu", "sys")
    levels = ("cta", "gpu", "mixed")
    all_themes = ("plain", "atomics", "fences", "barriers", "sizes", "guards", "handover")

    def _forms(self, together: bool) -> dict[str, list[Callable[[int], list[str]]]]:
        return {**super()._forms(together), "handover": [self._publish, self._observe] * 2}

    def _atomic(self, thread: int) -> list[str]:
        return self._without("red", super()._atomic, thread)

    def _barrier(self, thread: int) -> list[str]:
        return ["bar.sync 0"]

    def _cluster_barrier(self, thread: int) -> list[str]:
        return self._fence(thread)

    def _sized(self, thread: int) -> list[str]:
        return self._without(".v2", super()._sized, thread)

    def _without(self, part: str, form: Callable[[int], list[str]], thread: int) -> list[str]:
        """The first lines of a form that do not have a part."""
        while True:
            registers = self._registers.copy()
            if part not in (lines := form(thread))[0]:
                return lines
            self._registers = registers

    def _publish(self, thread: int) -> list[str]:
        scope = self._random.choice(("gpu", "gpu", "cta"))
        return self._random.choice(
            (
                [f"st.weak [x], {thread + 1}", f"st.release.{scope} [y], 1"],
                ["st.weak [x], 7", f"fence.acq_rel.{scope}", "atom.exch.b32 _, [y], 1"],
                ["st.volatile [x], 8", f"fence.sc.{scope}", "st.volatile [y], 1"],
            )
        )

    def _observe(self, thread: int) -> list[str]:
        scope = self._random.choice(("gpu", "gpu", "cta"))
        flag, test = self._register(thread), f"%p{self._random.randrange(10**6)}"
        read = self._random.choice(
            (
                [f"ld.acquire.{scope} {flag}, [y]"],
                [f"ld.volatile {flag}, [y]", f"fence.acq_rel.{scope}"],
                [f"atom.acquire.{scope}.add.u32 {flag}, [y], 1"],
            )
        )
        access = self._random.choice((self._load, self._store))(thread)
        return [*read, f"setp.ne.u32 {test}, {flag}, 0", *(f"@{test} {line}" for line in access)]


class _FencedWriter(_KernelWriter):
    def _column(self, thread: int, together: bool) -> list[str]:
        forms = [self._load, self._store, self._load, self._store, self._atomic]
        column: list[str] = []
        for _ in range(self._random.choice((2, 3) if self._threads == 2 else (1, 2, 2))):
            column += self._random.choice(forms)(thread)
            if self._random.random() < 0.75:
                column.append(f"fence.sc.{self._random.choice(('gpu', 'gpu', 'sys', 'cta'))}")
            elif together and self._random.random() < 0.4:
                column.append("bar.sync 0")
        return [*column, *self._random.choice(forms)(thread)]


class _BarrierWriter(_KernelWriter):
    levels = ("cta",)
    all_themes = ("plain", "atomics", "fences", "handover")
    thread_counts = (2, 3, 3)

    def __init__(self, random: Random, name: str) -> None:
        super().__init__(random, name)
        self._barriers = [self._partial_barrier(1 + each) for each in range(random.choice((1, 2)))]

    def _partial_barrier(self, number: int) -> dict[int, str]:
        """What each thread that comes to a barrier does there."""
        random = self._random
        members = random.sample(range(self._threads), random.randint(2, self._threads))
        which = f"{number}, {32 * len(members)}"
        return {each: f"barrier.{random.choice(('sync', 'sync', 'arrive'))} {which}"
                for each in members}  # fmt: skip

    def _column(self, thread: int, together: bool) -> list[str]:
        forms = self._forms(together)
        usable = [*forms["plain"], *(form for theme in self._themes for form in forms[theme])]
        column = self._random.choice(usable)(thread)
        for barrier in self._barriers:
            column += [barrier[thread]] if thread in barrier else []
            column += self._random.choice(usable)(thread)
        return column


class _FlagWriter(_KernelWriter):
    levels = ("cta", "gpu", "gpu")
    all_themes = ("plain", "fences", "handover")

    def _column(self, thread: int, together: bool) -> list[str]:
        column: list[str] = []
        if thread:
            column += [f"ld.volatile {self._register(thread)}, [y]"]
            column += [*self._perhaps(self._fence(thread)), *self._load(thread)]
        for value in range(1, self._random.choice((3, 3, 4)) if thread == 0 else 1):
            column += self._perhaps([f"st.weak [x], {value}"])
            column += [*self._perhaps(self._fence(thread)), f"st.volatile [y], {value}"]
        if together:
            column.insert(self._random.randrange(len(column) + 1), "bar.sync 0")
        return column

    def _perhaps(self, lines: list[str]) -> list[str]:
        return lines if self._random.random() < 0.7 else []
