"""Names of static variables in recorded traces, and recordings of the calls of functions."""

import subprocess
from collections import Counter

import pytest

from racetrap.golden_model.trace.threads.events import ACCESS_KINDS, Variable
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.symbols import find_functions, find_names
from tests.support.threads.recordings import of_kind, record_text

_PROGRAM = """
#include <pthread.h>
namespace bank { long balance[8]; thread_local int own; int unused; char flags[3]; }
static void *work(void *unused) {
    static int calls;
    calls++;
    bank::own++;
    bank::balance[2] += 1;
    bank::flags[2] = 1;
    return unused;
}
int main() {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
"""


def test_only_accessed_variables_with_a_fixed_address_are_named(tmp_path):
    trace = record_text(tmp_path, _PROGRAM, suffix=".cpp")
    own = {
        variable for variable in trace.header.variables.values()
        if variable.name.startswith("bank::") or "calls" in variable.name
    }  # fmt: skip
    assert own == {
        Variable(64, "bank::balance"), Variable(3, "bank::flags"),
        Variable(4, "work(void*)::calls"),
    }  # fmt: skip
    (balance,) = (
        address for address, variable in trace.header.variables.items()
        if variable.name == "bank::balance"
    )  # fmt: skip
    assert balance + 16 in {event.address for event in of_kind(trace, "STORE")}
    assert trace.header.variables_at(balance + 16) == {balance: Variable(64, "bank::balance")}


_REGIONS = """
#include <pthread.h>
long inside, outside, below;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
namespace bank {
__attribute__((noinline)) void leaf() { below++; }
__attribute__((noinline)) void transfer(int count) {
    inside++;
    leaf();
    if (count) transfer(count - 1);
    inside++;
    leaf();
}
}
static void *work(void *unused) {
    outside++;
    bank::transfer(2);
    outside++;
    pthread_mutex_lock(&mutex);
    outside++;
    pthread_mutex_unlock(&mutex);
    bank::leaf();
    return unused;
}
int main() {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
"""


def _stores(trace):
    """Stores to each named variable, and events that are no plain accesses."""
    names = {address: variable.name for address, variable in trace.header.variables.items()}
    found = Counter(names.get(event.address) for event in of_kind(trace, "STORE"))
    kinds = [event.kind for event in trace if event.kind not in ACCESS_KINDS]
    return {name: found[name] for name in ("inside", "outside", "below")}, kinds


def test_accesses_in_calls_of_a_function_alone(tmp_path):
    whole, kinds = _stores(record_text(tmp_path, _REGIONS, suffix=".cpp"))
    assert whole == {"inside": 6, "outside": 3, "below": 7}
    for name in ("bank::transfer", "bank::transfer(int)"):
        part = record_text(tmp_path, _REGIONS, suffix=".cpp", only=[name])
        assert _stores(part) == ({"inside": 6, "outside": 0, "below": 6}, kinds)
    both = record_text(tmp_path, _REGIONS, suffix=".cpp", only=["bank::leaf", "bank::transfer"])
    assert _stores(both)[0] == {"inside": 6, "outside": 0, "below": 7}


def test_instructions_outside_are_counted(tmp_path):
    whole = record_text(tmp_path, _REGIONS, suffix=".cpp")
    part = record_text(tmp_path, _REGIONS, suffix=".cpp", only=["bank::leaf"])
    assert len(part) < len(whole)
    for thread in range(2):
        counts = [
            int(trace.events["instructions"][trace.events["thread"] == thread].sum())
            for trace in (whole, part)
        ]
        assert counts[0] == counts[1]


def test_a_function_that_is_not_there(tmp_path):
    with pytest.raises(RecordError, match="has no function f, or it is inlined everywhere"):
        record_text(tmp_path, _REGIONS, suffix=".cpp", only=["f"])


def test_without_names_no_symbols_are_read(tmp_path):
    assert find_functions(tmp_path / "missing", ()) == []
    with pytest.raises(RecordError):
        find_functions(tmp_path / "missing", ("main",))


def test_names_of_return_addresses(tmp_path):
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text("int first(void) { return 1; }\nint main(void) { return first(); }\n")
    subprocess.run(["gcc", "-no-pie", "-o", program, source], check=True)
    ((begin, end),) = find_functions(program, ["first"])
    # A call lies before its return address.
    found = find_names(program, [begin, begin + 1, end])
    assert found.pop(begin, "") != "first"
    assert found == {begin + 1: "first", end: "first"}
