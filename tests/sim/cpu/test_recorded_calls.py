"""Call stacks of accesses in recorded programs."""

import pytest

from racetrap.golden_model.call_stacks import call_stack
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.happens_before.race_context import RaceContexts
from racetrap.golden_model.trace.threads.events import ThreadEventKind, frame_of
from racetrap.sim.cpu.recorder import RecordError
from tests.support.threads.recordings import record_text

_NOINLINE = "#define FUNCTION __attribute__((noinline, noclone)) void\nint cell;\n"
_TIMEOUT = 10.0


def _functions(trace, frame):
    """Functions of a call stack, the innermost first."""
    return [each.function.partition("(")[0] for each in call_stack(trace.header.frames, frame)]


def _stacks(trace, kind=ThreadEventKind.STORE):
    """Functions, the innermost first, of each access of a kind to the variable ``cell``."""
    (cell,) = (a for a, variable in trace.header.variables.items() if variable.name == "cell")
    return [
        _functions(trace, frame_of(event.kind, event.value))
        for event in trace
        if event.kind == kind and event.address == cell
    ]


def test_functions_and_places_of_calls(tmp_path):
    trace = record_text(tmp_path, _NOINLINE + """
        FUNCTION put(void) { cell++; }
        FUNCTION twice(void) {
            put();
            cell++;
            put();
        }
        static void *work(void *unused) { twice(); return unused; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, NULL, work, NULL);
            pthread_join(thread, NULL);
            twice();
        }
    """, timeout=_TIMEOUT)  # fmt: skip
    of_work = [["put", "twice", "work"], ["twice", "work"], ["put", "twice", "work"]]
    of_main = [["put", "twice", "main"], ["twice", "main"], ["put", "twice", "main"]]
    assert _stacks(trace) == of_work + of_main
    (place,) = {frame.place for frame in trace.header.frames.values() if frame.function == "work"}
    assert place == ""
    places = [frame.place for frame in trace.header.frames.values() if frame.function == "put"]
    assert sorted(places) == ["case.c:6", "case.c:6", "case.c:8", "case.c:8"]


_ATOMICS = (
    _NOINLINE
    + """
    FUNCTION add(void) { __atomic_fetch_add(&cell, 1, __ATOMIC_RELAXED); }
    FUNCTION put(void) { *(volatile int *)&cell = 1; }
    FUNCTION twice(void) { add(); put(); add(); }
    static void *work(void *unused) { twice(); return unused; }
    static void *other(void *unused) { put(); return unused; }
    int main(void) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, i ? other : work, NULL);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        add();
    }
"""
)


@pytest.mark.parametrize("only", [(), ("put",)])
def test_stacks_of_atomic_accesses(tmp_path, only):
    """They are known where no plain access is recorded, too."""
    trace = record_text(tmp_path, _ATOMICS, timeout=_TIMEOUT, only=only)
    add = ["add", "twice", "work"]
    assert _stacks(trace, ThreadEventKind.ATOMIC_UPDATE) == [add, add, ["add", "main"]]
    assert sorted(_stacks(trace)) == [["put", "other"], ["put", "twice", "work"]]
    assert {("add", "put"), ("put", "put")} == {
        (first[0], second[0]) for first, second in _stacks_of_races(trace)
    }


def _stacks_of_races(trace):
    contexts = RaceContexts(trace)
    found = [contexts.of(race) for race in HappensBefore().run(trace).races]
    return [
        sorted(_functions(trace, frame) for frame in (one.first_frame, one.second_frame))
        for one in found
    ]


def test_waiting_by_a_function_is_recorded_once(tmp_path):
    trace = record_text(tmp_path, _NOINLINE + """
        static int tries;
        FUNCTION look(void) { tries += !__atomic_load_n(&cell, __ATOMIC_ACQUIRE); }
        static void *work(void *unused) { do look(); while (tries < 1000); return unused; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, NULL, work, NULL);
            pthread_join(thread, NULL);
        }
    """, timeout=_TIMEOUT)  # fmt: skip
    stacks = _stacks(trace, ThreadEventKind.ATOMIC_LOAD)
    assert stacks == [["look", "work"]] * len(stacks)
    assert len(stacks) < 10


def test_recursion_and_functions_behind_pointers(tmp_path):
    trace = record_text(tmp_path, _NOINLINE + """
        FUNCTION one(void) { cell = 1; }
        FUNCTION two(void) { cell = 2; }
        FUNCTION down(int left) { if (left) down(left - 1); else cell = 0; }
        int main(int count, char **unused) {
            void (*functions[])(void) = {one, two};
            for (int i = 0; i < 2 * count; i++) functions[i % 2]();
            down(40);
        }
    """, timeout=_TIMEOUT)  # fmt: skip
    assert _stacks(trace) == [["one", "main"], ["two", "main"], ["down"] * 41 + ["main"]]


def test_a_jump_leaves_functions_without_a_return(tmp_path):
    trace = record_text(tmp_path, "#include <setjmp.h>\n" + _NOINLINE + """
        static jmp_buf plain;
        static sigjmp_buf other;
        FUNCTION down(int left) {
            if (left == 3 && cell >= 10) siglongjmp(other, 1);
            if (left) down(left - 1);
            cell = left;
            longjmp(plain, 1);
        }
        FUNCTION back(void) {
            volatile char room[100 + cell];
            room[0] = 0;
            cell = 0;
            if (!setjmp(plain)) down(5);
            cell = 10 + room[0];
            if (!sigsetjmp(other, 1)) down(3);
            cell = 11;
        }
        FUNCTION put(void) { cell = 12; }
        int main(void) {
            if (!setjmp(plain)) down(2);
            put();
            back();
            cell = 13;
        }
    """, timeout=_TIMEOUT)  # fmt: skip
    main, back = ["main"], ["back", "main"]
    assert _stacks(trace) == [
        ["down"] * 3 + main, ["put", *main], back, ["down"] * 6 + back, back, back, main,
    ]  # fmt: skip


def test_an_exception_leaves_functions(tmp_path):
    trace = record_text(tmp_path, _NOINLINE + """
        FUNCTION down(int left) {
            if (!left) throw left;
            down(left - 1);
            cell++;
        }
        int main() {
            for (int i = 0; i < 2; i++) {
                try { down(3); } catch (int) { cell++; }
            }
        }
    """, suffix=".cpp", timeout=_TIMEOUT)  # fmt: skip
    assert _stacks(trace) == [["main"], ["main"]]


def test_a_handler_leaves_the_stack_as_it_was(tmp_path):
    trace = record_text(tmp_path, "#include <signal.h>\n" + _NOINLINE + """
        FUNCTION put(int value) { cell = value; }
        static void handle(int number) { put(number); }
        FUNCTION work(void) {
            cell = 1;
            raise(SIGUSR1);
            cell = 2;
        }
        int main(void) {
            signal(SIGUSR1, handle);
            work();
            cell = 3;
        }
    """, timeout=_TIMEOUT)  # fmt: skip
    first, handled, *rest = _stacks(trace)
    assert (first, handled[:2], rest) == (
        ["work", "main"], ["put", "handle"], [["work", "main"], ["main"]]
    )  # fmt: skip


def test_calls_deeper_than_the_tree_have_no_stack(tmp_path):
    trace = record_text(tmp_path, _NOINLINE + """
        FUNCTION down(int left) {
            if (left) down(left - 1);
            cell = left;
        }
        FUNCTION put(void) { cell = 1; }
        static void *work(void *unused) {
            down(270000);
            put();
            cell = 2;
            return unused;
        }
        int main(void) {
            pthread_attr_t large;
            pthread_t thread;
            pthread_attr_init(&large);
            pthread_attr_setstacksize(&large, 128 << 20);
            pthread_create(&thread, &large, work, NULL);
            pthread_join(thread, NULL);
        }
    """, timeout=_TIMEOUT)  # fmt: skip
    depths = [frame.caller for frame in trace.header.frames.values()]
    assert len(depths) == 50_000
    cells = [event.value for event in trace if event.kind == ThreadEventKind.STORE]
    assert cells[0] == 0  # the tree is full
    assert cells[-1] in trace.header.frames


def test_too_many_functions_to_record_alone(tmp_path):
    functions = [f"f{number}" for number in range(257)]
    text = "".join(f"FUNCTION {name}(void) {{ cell += {name[1:]}; }}\n" for name in functions)
    text += "int main(void) {\n" + "".join(f"{name}();\n" for name in functions) + "}\n"
    trace = record_text(tmp_path, _NOINLINE + text, only=functions[1:200])
    assert len(_stacks(trace)) == 199
    with pytest.raises(RecordError, match="Functions of --only must be at most 256"):
        record_text(tmp_path, _NOINLINE + text, only=functions)
