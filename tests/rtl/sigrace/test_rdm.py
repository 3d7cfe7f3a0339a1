"""The Race Detection Module against the golden one: random messages over free-running links."""

from dataclasses import replace
from random import Random

import pytest

from racetrap.generators.structure import state_bits
from racetrap.golden_model.sigrace.conflict_log import Reason
from racetrap.golden_model.sigrace.packets import Conflict, Drop, RdmStepKind, Relation
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.rtl.sigrace.rdm import Rdm
from tests.support.campaign import later_but
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.messages import random_message
from tests.support.sigrace.rdm_bench import RdmBench, write

CONFIGURATIONS = {
    "small": SMALL,
    "hashed": replace(SMALL, form=Form.HASHED),
    "one core, one thread": replace(SMALL, cores=1, threads=1, sequence_bits=2),
    "contexts": replace(
        SMALL, contexts=3, threads=9, history_depth=3, log_depth=5, log_blocks=1, scanners=4,
        decompressors=2,
    ),
    "more threads": replace(
        SMALL, cores=3, threads=7, history_depth=5, log_depth=1, scanners=7, decompressors=3
    ),
    "depth 1": replace(
        SMALL, cores=4, threads=4, history_depth=1, log_depth=3, log_blocks=3, scanners=2
    ),
    "depth 2": replace(SMALL, history_depth=2, one_hot_lsb=True, lsb_bits=6),
}  # fmt: skip


class Traffic:
    """Messages of each link: mostly good ones of the threads mapped, with plausible timestamps."""

    def __init__(self, params: SigraceParams, rng: Random, wrong: float = 0.1):
        self.params, self.rng, self.wrong = params, rng, wrong
        places = [(core, context) for core in range(params.cores)
                  for context in range(params.contexts)]  # fmt: skip
        threads = rng.sample(range(params.threads), min(params.threads, len(places)))
        #: Thread of each place, as software maps it at the start.
        self.places = dict(zip(places, threads, strict=False))
        self.sequence = dict.fromkeys(places, 0)
        self.clocks = [[0] * params.threads for _ in range(params.threads)]

    def of_links(self, count: int) -> list[list[tuple[int, ...]]]:
        """``count`` messages, dealt to the links."""
        links: list[list[tuple[int, ...]]] = [[] for _ in range(self.params.cores)]
        for _ in range(count):
            core, context = self.rng.choice(list(self.sequence))
            links[core].append(self.message(core, context))
        return links

    def message(self, core: int, context: int) -> tuple[int, ...]:
        params, rng = self.params, self.rng
        modulus = 1 << params.sequence_bits
        thread = self.places.get((core, context), 0)
        fields = {"core": core, "context": context, "thread": thread}
        fields["sequence"] = self.sequence[core, context]
        if rng.random() < self.wrong:
            name = rng.choice(list(fields))
            fields[name] = rng.randrange(16) if name == "context" else rng.randrange(256)
        self.sequence[core, context] = (fields["sequence"] + 1) % modulus
        return random_message(params, rng, self.wrong / 2, timestamp=self._time(thread), **fields)

    def _time(self, thread: int) -> tuple[int, ...]:
        """The thread's own counter moves on; now and then it hears of another thread's."""
        rng, clock = self.rng, self.clocks[thread]
        if rng.random() < 0.4:
            clock[thread] += 1
        if rng.random() < 0.3:
            other = self.clocks[rng.randrange(self.params.threads)]
            clock[:] = [max(pair) for pair in zip(clock, other, strict=True)]
        late = rng.random() < 0.1
        clock[:] = [min(value, self.params.max_counter) for value in clock]
        return tuple(max(0, value - 1) for value in clock) if late else tuple(clock)


def start(bench, places, **control):
    """Software that maps threads and enables the module."""

    async def software(ctx):
        for (core, context), thread in places.items():
            await write(ctx, bench.port, "MAP_SELECT", core=core, context=context)
            await write(ctx, bench.port, "MAP", thread=thread, valid=1)
        await write(ctx, bench.port, "CONTROL", enable=1, **control)

    return software


def interfere(bench, traffic, rng):
    """Software that maps threads anew, flushes, clears and disables at any time."""

    async def software(ctx):
        await start(bench, traffic.places)(ctx)
        for _ in range(12):
            for _ in range(rng.randrange(150)):
                await ctx.tick()
            action = rng.randrange(5)
            if action == 0:
                await write(ctx, bench.port, "CONTROL", enable=1, flush=1)
            elif action == 1:
                await write(ctx, bench.port, "CONTROL", enable=1, clear_log=1)
            elif action == 2:
                await write(ctx, bench.port, "CONTROL", enable=0)
                for _ in range(rng.randrange(100)):
                    await ctx.tick()
                await write(ctx, bench.port, "CONTROL", enable=1, flush=1, clear_log=1)
            else:
                core, context = rng.choice(list(traffic.sequence))
                await write(ctx, bench.port, "MAP_SELECT", core=core, context=context)
                thread = rng.randrange(bench.params.threads + 1)
                await write(ctx, bench.port, "MAP", thread=thread, valid=rng.random() < 0.9)

    return software


# The test that everything happens has the small one.
@pytest.mark.parametrize("name", later_but(("hashed", "contexts").__contains__, CONFIGURATIONS))
def test_random_messages(name):
    params = CONFIGURATIONS[name]
    traffic = Traffic(params, Random(f"rdm {name}"))
    bench = RdmBench(params, name)
    bench.run(*bench.feeders(traffic.of_links(30)), start(bench, traffic.places))
    assert bench.model.counters["messages"] > 10


@pytest.mark.parametrize("seed", later_but(lambda seed: seed == 1, range(4)))
def test_software_interferes(seed):
    params = [SMALL, CONFIGURATIONS["contexts"]][seed % 2]
    rng = Random(f"interfere {seed}")
    traffic = Traffic(params, rng)
    bench = RdmBench(params, seed)
    bench.run(*bench.feeders(traffic.of_links(40), 0.8), interfere(bench, traffic, rng))


@pytest.mark.parametrize("threads", later_but(lambda threads: threads == 5, [1, 3, 4, 5]))
def test_threads_take_turns_on_one_core(threads):
    """More threads than cores: before each message another thread may be mapped."""
    params = replace(SMALL, cores=1, threads=threads, history_depth=3)
    rng = Random(f"turns {threads}")
    traffic = Traffic(params, rng, wrong=0)
    bench = RdmBench(params, threads)

    async def software(ctx):
        await start(bench, {})(ctx)
        for _ in range(30):
            traffic.places[0, 0] = rng.randrange(threads)
            await write(ctx, bench.port, "MAP", thread=traffic.places[0, 0], valid=1)
            await bench.send(ctx, 0, traffic.message(0, 0))
            while not ctx.get(bench.dut.o_idle):
                await ctx.tick()

    bench.run(software)
    assert bench.model.counters["messages"] == 30
    assert (bench.model.counters["comparisons"] > 0) == (threads > 1)


def test_everything_happens():
    """All outcomes of a comparison, conflicts, drops and reasons occur in these tests."""
    seen = set()
    for name, count in (("small", 110), ("depth 1", 50)):
        params = CONFIGURATIONS[name]
        traffic = Traffic(params, Random(f"everything {name}"), wrong=0.2)
        bench = RdmBench(params, name)
        bench.run(*bench.feeders(traffic.of_links(count), 0), start(bench, traffic.places))
        for step in bench.expected:
            if step.kind == RdmStepKind.COMPARE:
                seen |= {("relation", step.relation), ("conflict", step.conflict)}
            seen |= {("drop", step.drop), ("lost", step.lost > 0)}
        seen |= {("reason", reason) for reason in Reason if reason & bench.model.reasons}
    wanted = {"relation": Relation, "conflict": [0, *Conflict], "drop": Drop, "reason": Reason}
    wanted = {(kind, one) for kind, all_of_kind in wanted.items() for one in all_of_kind}
    assert wanted | {("lost", True), ("lost", False)} <= seen


def test_queues_of_a_scanner_are_one_memory_without_reset():
    """Block memory has one read and one write port; the entries are nowhere else."""
    params = replace(SMALL, threads=5, history_depth=5, scanners=2)
    bits = state_bits(Rdm(params))
    for scanner, queues in enumerate((3, 2)):
        held = bits[f"top.controller.search.search_{scanner}.queues"]
        assert held.memory_bits == queues * params.history_depth * params.history_layout.width
        assert held.flip_flops < params.history_layout.width


@pytest.mark.parametrize(
    "changes",
    later_but(
        lambda changes: "link_depth" in changes,
        [
            {"cores": 1, "threads": 1, "history_depth": 1, "log_depth": 1, "link_depth": 2},
            {"cores": 9, "threads": 9, "history_depth": 9, "log_depth": 9, "lsb_bits": 4},
            {"threads": 128, "timestamp_bits": 2, "filters": 8, "filter_bits": 16},
            {
                "form": Form.HASHED, "lsb_bits": 24, "filters": 2, "filter_bits": 1024,
                "timestamp_bits": 32,
            },
            {
                "contexts": 8, "one_hot_lsb": True, "lsb_bits": 12, "usb_limit": 63,
                "trace_port": False,
            },
        ],
    ),
)  # fmt: skip
def test_elaborates_without_path_from_valid_to_ready(changes):
    assert valid_to_ready_paths(Rdm(replace(SMALL, **changes))) == []
