"""Compiled SigRace gives what the golden model gives, in every field of its result."""

import random
import shutil

import pytest

from racetrap.golden_model.sigrace.conflict_log import RollbackWhen
from racetrap.golden_model.sigrace.environment import ENVIRONMENTS, Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.cosim.verilator.patch import Patch
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.random_run import random_run
from racetrap.sim.cpu.sigrace import compiled_sigrace
from racetrap.sim.cpu.sigrace.compiled_sigrace import run_sigrace
from tests.support.sigrace.programs import ThreadProgram
from tests.support.threads.random_traces import random_thread_trace


def random_case(seed):
    """A random machine, and a random program for it."""
    rng = random.Random(f"compiled {seed}")
    threads, contexts = rng.randint(1, 6), rng.randint(1, 2)
    environment = rng.choice(ENVIRONMENTS)
    is_roomy = environment in ("fixed", "migration")
    params = SigraceParams(
        cores=-(-threads // contexts) if is_roomy else rng.randint(1, 3),
        contexts=contexts,
        threads=threads + rng.randint(0, 1),
        form=rng.choice(["sets", "hashed"]),
        lsb_bits=rng.choice([4, 8, 10, 12]),
        filters=rng.choice([2, 4, 16]),
        filter_bits=rng.choice([16, 64, 256]),
        one_hot_lsb=rng.random() < 0.3,
        usb_limit=rng.randint(1, 4),
        block_instructions=rng.choice([rng.randint(1, 60), 5000]),
        history_depth=rng.randint(1, 6),
        log_depth=rng.randint(1, 4),
        log_blocks=rng.randint(1, 4),
        sequence_bits=rng.randint(2, 8),
    )
    sigrace = Sigrace(
        params,
        Environment(environment, quantum=rng.randint(1, 200), seed=rng.randint(0, 99)),
        checkpoint_interval=rng.choice([60, 300, 10**6]),
        unbounded=rng.random() < 0.2,
        rollback_when=rng.choice(list(RollbackWhen)),
        ring_depth=rng.choice([0, rng.randint(1, 12), 500]),
    )
    events = rng.randint(50, 300)
    if rng.random() < 0.5:
        trace = random_thread_trace(seed, threads, events=events)
    else:
        trace = random_run(seed, threads=threads, events=events, sync=rng.choice((0.1, 0.3, 0.6)))
    return sigrace, trace


def differs(seed):
    sigrace, trace = random_case(seed)
    return run_sigrace(sigrace, trace) != sigrace.run(trace)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    assert not differs(seed)


def test_random_programs_have_conflicts_and_rollbacks_of_each_reason():
    results = [run_sigrace(*random_case(seed)) for seed in range(60)]
    reasons = {reason for result in results for reason in result.statistics.rollbacks}
    assert reasons == {"full", "blocks", "sync", "checkpoint", "end"}
    assert sum(bool(result.races) for result in results) > 20
    assert sum(bool(result.false_positives) for result in results) > 0
    statistics = [result.statistics for result in results]
    for name in ("conflicts_dismissed", "conflicts_unheld", "conflicts_ignored", "ring_reads"):
        assert sum(bool(getattr(each, name)) for each in statistics) > 5, name


def differs_on_program(name, environment, **settings):
    trace = program_trace(name, "tiny", 4)
    cores = 4 if environment in ("fixed", "migration") else 2
    params = SigraceParams(cores=cores, threads=4, **settings)
    sigrace = Sigrace(params, Environment(environment, quantum=500), 20_000)
    return run_sigrace(sigrace, trace) != sigrace.run(trace)


@pytest.mark.parametrize(
    ("name", "environment"),
    list(zip(("radix", "kvstore", "fluid", "dedup"), ENVIRONMENTS, strict=True)),
)
def test_recorded_programs(name, environment):
    assert not differs_on_program(name, environment)


@pytest.mark.campaign
@pytest.mark.parametrize("form", ["sets", "hashed"])
@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_recorded_programs(name, environment, form):
    assert not differs_on_program(name, environment, form=form)


def test_instructions_of_more_than_one_core_event():
    program = ThreadProgram(2)
    for _ in range(3):
        program.store(0, 0x1000, instructions=10_000)
        program.store(1, 0x1000, instructions=4_096)
    program.add(ThreadEventKind.COLLECT_OFF, 0, instructions=9_000)
    trace = program.trace()
    for interval in (1, 5_000, 10_000):
        sigrace = Sigrace(SigraceParams(cores=2, threads=2), checkpoint_interval=interval)
        assert run_sigrace(sigrace, trace) == sigrace.run(trace)


@pytest.mark.parametrize("size", [4, 0])
def test_an_access_like_one_before_the_memory_was_allocated_again(size):
    """Both are looked at: the first can race before the allocation only."""
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x10)
    program.add(ThreadEventKind.ALLOCATE, 0, 0x1000, value=size)
    program.store(0, 0x1000, pc=0x10)
    program.store(1, 0x1000, pc=0x20)
    trace, sigrace = program.trace(), Sigrace(SigraceParams())
    found = run_sigrace(sigrace, trace)
    assert found == sigrace.run(trace)
    assert [race.static_key for race in found.races] == [(0x10, 0x20)]


def test_errors_are_the_golden_models():
    trace = random_run(1, threads=5, sync=0.6)
    for sigrace in (
        Sigrace(SigraceParams(threads=4)),
        Sigrace(SigraceParams(cores=4, threads=8)),
        Sigrace(SigraceParams(), instruction_limit=10),
        Sigrace(SigraceParams(timestamp_bits=2)),
    ):
        with pytest.raises(ValueError, match=r"Trace has \d+|timestamp_bits") as golden:
            sigrace.run(trace)
        with pytest.raises(ValueError, match=r"Trace has \d+|timestamp_bits") as compiled:
            run_sigrace(sigrace, trace)
        assert str(compiled.value) == str(golden.value)


def test_without_a_compiler_the_golden_model_runs(monkeypatch):
    monkeypatch.setattr(compiled_sigrace, "which", lambda name: None)
    monkeypatch.setattr(compiled_sigrace, "prepare_sigrace", None)
    assert not differs(0)


SETTINGS = (
    "lsb_bits", "usb_limit", "usb_count_bits", "block_instructions", "history_depth", "log_depth",
    "log_blocks", "message_bits", "interval", "quantum", "is_unbounded", "is_hashed", "moves",
    "answered", "ring_depth", "ring_blocks",
)  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_a_wrong_setting_is_seen(name, monkeypatch):
    right = compiled_sigrace.settings_of

    def wrong(sigrace):
        settings = right(sigrace)
        value = getattr(settings, name)
        is_flag = name.startswith("is_") or name == "moves"
        # A block more in a ring seldom matters; so only one is known.
        step = {"message_bits": 32, "ring_blocks": 1 - value}.get(name, 1)
        setattr(settings, name, 1 - value if is_flag else value + step)
        return settings

    monkeypatch.setattr(compiled_sigrace, "settings_of", wrong)
    assert any(map(differs, range(60))), "60 runs do not differ"


BUGS = {
    "a set keeps its USB values": Patch("sigrace/core_unit.h", "        set.usb.clear();\n", ""),
    "a run ends late": Patch("sigrace/core_unit.h", "2 * std::bit_width(at - start) - 1",
                        "2 * std::bit_width(at - start)"),
    "an entry of the same epoch precedes": Patch(
        "sigrace/rdm.h", "known[thread] < coming[thread]", "known[thread] <= coming[thread]"),
    "two filters are enough": Patch(
        "sigrace/signature.h", "if (!both) return false;",
        "if (!both && filter < 2) return false;"),
    "a checkpoint leaves the queues": Patch("sigrace/machine.cpp", "        rdm.flush();\n", ""),
    "the log keeps the timestamp before the merge": Patch(
        "sigrace/machine.cpp", "objects_.acquire(event, clocks_[thread]);",
        "auto merged = clocks_[thread]; objects_.acquire(event, merged);"),
    "events without instructions take no time": Patch(
        "sigrace/scheduler.h", "event.instructions ? event.instructions : 1",
        "event.instructions"),
    "an epoch ends one event late": Patch(
        "sigrace/epoch_index.h", "thread.starts.push_back(position)",
        "thread.starts.push_back(position + 1)"),
    "a conflict is known by its epochs alone": Patch(
        "sigrace/machine.cpp", "if (signature[word] & ~saved[word]) return false;",
        "if (~signature[word] & ~saved[word] & 0) return false;"),
    "accesses of one instruction are alike": Patch(
        "sigrace/epoch_index.h", "seen.insert({event.address, event.pc, event.kind, event.size})",
        "seen.insert({0, event.pc, event.kind, 0})"),
    "an epoch is over when it begins": Patch(
        "sigrace/machine.cpp", "(uint32_t)epoch < clocks_", "(uint32_t)epoch <= clocks_"),
    "a pass takes every conflict": Patch(
        "sigrace/rollback.h", "if (each.thread == thread) return *each.timestamp == timestamp;",
        "if (each.thread == thread) return true;"),
    "a pass takes epochs that are ordered": Patch(
        "sigrace/rollback.h", "timestamp, thread) != UNORDERED)",
        "timestamp, thread) == PRECEDES)"),
    "Re-execution goes one epoch too far": Patch(
        "sigrace/rollback.h", "if (stop.epoch() < log[", "if (stop.epoch() + 1 < log["),
    "Analysis begins before the checkpoint": Patch(
        "sigrace/rollback.h", "std::max(index_->start(stop.thread, stop.epoch()), begin)",
        "index_->start(stop.thread, stop.epoch()) + 0 * begin"),
    "lives of memory are one": Patch(
        "sigrace/rollback.h", "index_->allocations.count(granule, number)",
        "0 * index_->allocations.count(granule, number)"),
    "an allocation covers the byte behind it": Patch(
        "sigrace/epoch_index.h", "piece.end > granule)", "piece.end >= granule)"),
    "all bytes of a granule race": Patch(
        "sigrace/rollback.h", "bool is_race = first.used & second.used;",
        "bool is_race = first.used | second.used;"),
    "reads race": Patch(
        "sigrace/rollback.h", "!(low.is_write || high.is_write)",
        "(low.is_write && high.is_write && false)"),
    "a conflict is explained by other threads": Patch(
        "sigrace/rollback.h", "first == low && second == high &&", "first == low && second &&"),
    "a rollback for nothing is not counted": Patch(
        "sigrace/rollback.h", "costs.repeated_for_nothing += repeated() - before;",
        "costs.repeated_for_nothing += before - before;"),
    "the first race is the last": Patch(
        "sigrace/rollback.h", "} else if (!costs.has_race) {", "} else {"),
    "a ring holds an entry more": Patch(
        "sigrace/address_ring.h", "if (written - first > entries_.size()) return {};",
        "if (written - first > entries_.size() + 1) return {};"),
    "a block is read under a newer one's number": Patch(
        "sigrace/address_ring.h", "number_ - number > blocks_.size()",
        "number_ - number > blocks_.size() + 1"),
    "reads and writes join": Patch(
        "sigrace/address_ring.h", " && !newest.written == !is_write", ""),
    "entries of two blocks join": Patch(
        "sigrace/address_ring.h", "written > first_ &&", "written &&"),
    "an access of the block before counts": Patch(
        "sigrace/address_ring.h", " || recent.block != number_", ""),
    "a load after a store is kept": Patch(
        "sigrace/address_ring.h", "recent.written | (is_write ? 0 : recent.read)",
        "is_write ? recent.written : recent.read"),
    "a read and a later write have nothing in common": Patch(
        "sigrace/address_ring.h", " | (a->read & b->written)", ""),
    "only the lower granule of a word counts": Patch(
        "sigrace/address_ring.h", "both >> place &", "both &"),
    "blocks are in the first ring": Patch(
        "sigrace/address_ring.h", "(*rings_)[unit]", "(*rings_)[0]"),
    "a full log drops conflicts": Patch(
        "sigrace/machine.cpp", "rdm.when_full = [this] { handle(AT_FULL); };", ""),
    "signatures analysed are united": Patch(
        "sigrace/machine.cpp", "if (signature[word] & ~saved[word]) return false;",
        "if (!(signature[word] & saved[word]) && signature[word]) return false;"),
    "what one thread has trapped on is analysed": Patch(
        "sigrace/rollback.h", "both[word] &= other->signature[word];", ""),
    "a common address is known with its epochs": Patch(
        "sigrace/machine.cpp", "return hash.has(saved, granule);",
        "return hash.has(saved, granule) || true;"),
    "a reader waits for readers": Patch(
        "sync_objects.h", "if (event.value == RWLOCK_READ) return {address, READERS, 0};",
        "if (event.value == RWLOCK_READ) return {address, WRITERS, 0};"),
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_seen(name, tmp_path, monkeypatch):
    source = compiled_sigrace._FOLDER.parent
    for pattern in ("*.h", "sigrace/*.h", "sigrace/*.cpp"):
        for path in source.glob(pattern):
            target = tmp_path / path.relative_to(source)
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)
    BUGS[name].apply(tmp_path)
    monkeypatch.setattr(compiled_sigrace, "_FOLDER", tmp_path / "sigrace")
    compiled_sigrace.prepare_sigrace.cache_clear()
    try:
        assert any(map(differs, range(300))), "300 runs do not differ"
    finally:
        compiled_sigrace.prepare_sigrace.cache_clear()
