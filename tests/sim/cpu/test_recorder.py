"""Recording runs: what ends up in a trace, repeatable, and clear errors for what cannot."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

from racetrap.golden_model.trace.files import read_thread_trace
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.cpu.compiler import compile_program
from racetrap.sim.cpu.raw import used_bytes
from racetrap.sim.cpu.recorder import RecordError, record
from racetrap.sim.cpu.watched_process import _own_interrupts
from tests.support.campaign import one_in
from tests.support.threads.recordings import HEAD, accesses, counts, of_kind, record_text

_WORK = """
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
    return unused;
}
"""
_MAIN = """
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) if (pthread_create(&threads[i], 0, work, 0)) return 1;
    for (int i = 0; i < 3; i++) if (pthread_join(threads[i], 0)) return 1;
    return shared != 3;
}
"""


def test_threads_and_a_mutex(tmp_path):
    trace = record_text(tmp_path, _WORK + _MAIN)
    found = counts(trace)
    assert trace.header.threads == 4
    for name, count in (("CREATE", 3), ("BEGIN", 4), ("END", 4), ("JOIN", 3)):
        assert found[name, 0] == count
    assert found["ACQUIRE", 0] == found["RELEASE", 0] == 3
    assert [event.value for event in of_kind(trace, "CREATE")] == [1, 2, 3]
    stores = of_kind(trace, "STORE")
    assert {trace.header.locations[event.pc] for event in stores} >= {"case.c:6"}
    assert len({event.address for event in stores if event.thread}) == 1
    for event in of_kind(trace, "LOAD", "STORE"):
        assert event.instructions


def test_addresses_are_those_of_every_run_and_below_4_gib(tmp_path):
    text = """
static void *work(void *number) {
    volatile char local[64];
    char *block = malloc(100);
    for (int i = 0; i < 64; i++) block[i] = local[i] = i;
    free(block);
    return number;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
"""
    first, second = (record_text(tmp_path, text).events for _ in range(2))
    for thread in range(5):
        one, other = (run[run["thread"] == thread] for run in (first, second))
        assert np.array_equal(one["address"], other["address"])
    assert first[first["thread"] > 0]["address"].max() < 1 << 32


@pytest.mark.parametrize(
    "last",
    one_in(2, ["exit(0);", "_exit(0);", "quick_exit(0);", "pthread_exit(0);", "return 0;"]),
)
def test_nothing_is_lost_however_the_program_ends(tmp_path, last):
    trace = record_text(tmp_path, f"volatile int x;\nint main(void) {{\nx++;\nx++;\n{last} }}")
    assert accesses(trace, "case.c:4") == [("LOAD", 4), ("STORE", 4)]
    assert counts(trace)["END", 0] == 1


def test_threads_that_outlive_the_program_get_an_end(tmp_path):
    trace = record_text(
        tmp_path,
        """
static sem_t never, begun;
static void *work(void *unused) { sem_post(&begun); sem_wait(&never); return unused; }
int main(void) {
    pthread_t thread;
    sem_init(&begun, 0, 0); sem_init(&never, 0, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
    sem_wait(&begun);
    return 0;
}
""",
    )
    assert [event.thread for event in of_kind(trace, "END")] == [0, 1]


def test_names_of_threads_are_used_again(tmp_path):
    trace = record_text(
        tmp_path,
        _WORK
        + """
int main(void) {
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, 0);
        if (i & 1) pthread_join(thread, 0);
        else pthread_detach(thread);
    }
    return 0;
}
""",
    )
    assert [event.value for event in of_kind(trace, "JOIN")] == list(range(2, 21, 2))


def test_a_thread_that_cannot_be_made_leaves_no_event(tmp_path):
    trace = record_text(
        tmp_path,
        _WORK
        + """
int main(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    cpu_set_t none;
    CPU_ZERO(&none);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof none, &none);
    if (!pthread_create(&thread, &attributes, work, 0)) return 1;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
""",
    )
    assert [event.value for event in of_kind(trace, "CREATE", "JOIN")] == [1, 1]


def test_the_last_destructor_of_a_thread_is_recorded(tmp_path):
    trace = record_text(
        tmp_path,
        """
static pthread_key_t key;
static volatile int cleaned;
static void clean(void *value) { cleaned = 1; (void)value; }
static void *work(void *unused) { pthread_setspecific(key, &key); return unused; }
int main(void) {
    pthread_t thread;
    pthread_key_create(&key, clean);
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
""",
    )
    assert ("STORE", 4) in accesses(trace, "case.c:4")


def test_a_seed_is_kept_and_does_no_harm(tmp_path):
    assert record_text(tmp_path, _WORK + _MAIN, seed=7).header.seed == 7
    with pytest.raises(ValueError, match="Seed must be from 0"):
        record_text(tmp_path, _WORK + _MAIN, seed=-1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) { return 1 }", "case.c cannot be compiled:\n(.|\n)*expected"),
        ("int main(void) { return missing(); }", "Program cannot be linked:\n(.|\n)*missing"),
        (
            "int main(void) { return pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0); }",
            "Function pthread_setcanceltype cannot be recorded: cancellation",
        ),
        (
            _WORK + "int main(void) { return pthread_mutex_unlock(&mutex); }",
            r"Mutex must be unlocked .* holds it, not by thread 0 at case\.c:\d+$",
        ),
        (
            "int main(void) { racetrap_collect_on(); return 0; }",
            "Call of racetrap_collect_on must follow",
        ),
        (
            "static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;\n"
            "int main(void) { pthread_rwlock_unlock(&l); return 0; }",
            "Program breaks a rule of its synchronisation: .*held|hold",
        ),
    ],
)
def test_what_cannot_be_recorded_is_said(tmp_path, text, message):
    with pytest.raises(RecordError, match=message):
        record_text(tmp_path, text, timeout=1)


_FAILING = """
static volatile int x;
static void *work(void *unused) { x = 1; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    x = 2;
    %s
}
"""


@pytest.mark.parametrize(
    ("statement", "ending"),
    one_in(2, [
        ("return 5;", "returned 5"),
        ("_exit(6);", "returned 6"),
        ("abort();", "ended by signal SIGABRT"),
        ("*(volatile int *)8 = 1;", "ended by signal SIGSEGV"),
        ("raise(SIGINT);", "ended by signal SIGINT"),
        ("for (;;) sleep(1);", "did not end within 0.5 seconds"),
    ]),
)  # fmt: skip
def test_a_program_that_fails_leaves_its_trace(tmp_path, statement, ending):
    source = tmp_path / "case.c"
    source.write_text(f"{HEAD}#include <signal.h>\n#line 1\n{_FAILING % statement}")
    recording = record([source], timeout=0.5)
    trace = recording.trace
    assert recording.ending == ending
    assert trace.header.source == f"case.c ({ending})"
    assert accesses(trace, "case.c:3") == accesses(trace, "case.c:8") == [("STORE", 4)]
    assert [event.thread for event in of_kind(trace, "END")] == [1, 0]


_ENDLESS = """
static pthread_mutex_t mutex;
static volatile int x;
static void *work(void *unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        x++;
        pthread_mutex_unlock(&mutex);
        if (PAUSE) usleep(PAUSE);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
}
"""


def test_endless_programs_are_stopped_by_time(tmp_path):
    source = tmp_path / "case.c"
    source.write_text(f"{HEAD}#define PAUSE 1000\n{_ENDLESS}")
    recording = record([source], seconds=0.3)
    assert recording.ending == "stopped after 0.3 seconds"
    assert len(recording.trace) > 100


@pytest.mark.parametrize("events", [1, 10, 50_000])
def test_endless_programs_are_stopped_by_events(tmp_path, events):
    source = tmp_path / "case.c"
    source.write_text(f"{HEAD}#define PAUSE 0\n{_ENDLESS}")
    recording = record([source], events=events)
    assert recording.ending == f"stopped after {events} events"
    kinds = recording.trace.events["kind"]
    missing = np.isin(kinds[events:], [ThreadEventKind.BEGIN, ThreadEventKind.END])
    assert missing.all()
    assert len(kinds) <= events + 3
    with pytest.raises(ValueError, match="Events must be at least 1, not 0"):
        record([source], events=0)


def test_an_interrupted_program_leaves_its_trace(tmp_path):
    source, target = tmp_path / "case.c", tmp_path / "case.trace"
    source.write_text(f"{HEAD}#define PAUSE 1000\n{_ENDLESS}")
    command = [sys.executable, "-c", "from racetrap.cli import main; main()"]
    recorder = subprocess.Popen(
        [*command, "trace", "record", "-o", str(target), str(source)],
        stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    _wait_for_records(tmp_path)
    recorder.send_signal(signal.SIGINT)
    output, _ = recorder.communicate()
    assert recorder.returncode == 0
    assert "Program interrupted; the trace ends there." in output
    assert len(read_thread_trace(target)) > 0


def test_an_interrupt_is_noted_while_a_program_runs():
    """As an exception it could come where the process' lock has been taken, which would stay so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with _own_interrupts() as is_interrupted:
            assert not is_interrupted()
            signal.raise_signal(signal.SIGINT)
            assert is_interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def _wait_for_records(folder, seconds=30.0):
    """Until the program that is recorded below ``folder`` has begun."""
    end = time.monotonic() + seconds
    while not any(used_bytes(path.parent) for path in folder.glob("racetrap-*/raw/records")):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_terminated_recorder_leaves_no_files(tmp_path):
    source = tmp_path / "case.c"
    source.write_text(f"{HEAD}#define PAUSE 1000\n{_ENDLESS}")
    command = [sys.executable, "-c", "from racetrap.cli import main; main()"]
    recorder = subprocess.Popen(
        [*command, "trace", "record", "-o", str(tmp_path / "case.trace"), str(source)],
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    _wait_for_records(tmp_path)
    recorder.terminate()
    assert recorder.wait() == 128 + signal.SIGTERM
    assert [path.name for path in tmp_path.iterdir()] == ["case.c"]


def test_a_deadlock_is_found_early(tmp_path):
    trace = record_text(
        tmp_path,
        _WORK
        + """
int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
""",
        timeout=30,
    )
    assert trace.header.source == "case.c (in a deadlock: all 2 threads wait for each other)"
    assert [event.thread for event in of_kind(trace, "ACQUIRE")] == [0]


_MANY_EVENTS = """
static volatile int x;
static void *work(void *unused) { for (int i = 0; i < 300000; i++) x++; return unused; }
"""


def test_descriptors_belong_to_the_program(tmp_path):
    """A program that closes every descriptor and opens its own files keeps them untouched."""
    precious = tmp_path / "precious"
    trace = record_text(
        tmp_path,
        _MANY_EVENTS
        + """
int main(int count, char **arguments) {
    pthread_t thread;
    (void)count;
    for (int file = 3; file < 1024; file++) close(file);
    FILE *file = fopen(arguments[1], "w");
    fputs("precious", file);
    pthread_create(&thread, 0, work, 0);
    for (int other = 3; other < 64; other++) if (other != fileno(file)) close(other);
    work(0);
    pthread_join(thread, 0);
    fputs(" data", file);
    return fclose(file);
}
""",
        str(precious),
    )
    assert precious.read_text() == "precious data"
    assert len(accesses(trace, "case.c:3")) == 1_200_000


@pytest.mark.parametrize("closing", one_in(3, ["fclose(stdin)", "close(0)", "closefrom(0)"]))
def test_a_program_may_close_standard_input(tmp_path, closing):
    trace = record_text(
        tmp_path,
        f"""
static volatile int x;
static void *work(void *unused) {{ x++; return unused; }}
int main(void) {{
    pthread_t thread;
    {closing};
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}}
""",
    )
    assert trace.header.threads == 2
    assert ("STORE", 4) in accesses(trace, "case.c:3")


def test_signals_arrive_while_threads_begin(tmp_path):
    """Handlers run in whichever thread is there, also in one that has just been made."""
    trace = record_text(
        tmp_path,
        """
#include <signal.h>
#include <sys/time.h>
static volatile int ticks;
static void tick(int signal) { ticks++; (void)signal; }
static void *work(void *unused) { return unused; }
int main(void) {
    struct itimerval timer = {{0, 100}, {0, 100}};
    pthread_attr_t with_mask;
    sigset_t none, kept;
    sigemptyset(&none);
    pthread_attr_init(&with_mask);
    pthread_attr_setsigmask_np(&with_mask, &none);
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &timer, 0);
    for (int round = 0; round < 100; round++) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], i % 2 ? &with_mask : 0, work, 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    }
    pthread_attr_getsigmask_np(&with_mask, &kept);
    return sigismember(&kept, SIGALRM) || !ticks;
}
""",
    )
    assert trace.header.threads == 401


def test_handlers_make_events_of_their_own(tmp_path):
    """Handlers interrupt threads in the midst of atomic operations, accesses and the heap."""
    trace = record_text(
        tmp_path,
        """
#include <signal.h>
#include <sys/time.h>
static long counter, handled; static volatile int plain; static volatile long own[2];
static void tick(int signal) {
    int error = errno;
    __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
    plain = signal;
    errno = error;
}
static void *work(void *argument) {
    long rounds = 0, me = (long)argument;
    while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) < 300) {
        __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
        own[me]++;
        rounds++;
    }
    return (void *)rounds;
}
int main(void) {
    struct itimerval timer = {{0, 50}, {0, 50}}, none = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART}, kept;
    pthread_t thread;
    void *rounds;
    sigaction(SIGALRM, &action, 0);
    sigaction(SIGALRM, 0, &kept);
    setitimer(ITIMER_REAL, &timer, 0);
    pthread_create(&thread, 0, work, (void *)1);
    long mine = (long)work(0);
    pthread_join(thread, &rounds);
    setitimer(ITIMER_REAL, &none, 0);
    printf("%ld %ld\\n", handled, mine + (long)rounds);
    return kept.sa_handler != tick || counter != handled + mine + (long)rounds;
}
""",
        output=(tmp_path / "output").open("w"),
    )
    handled, rounds = map(int, (tmp_path / "output").read_text().split())
    found = Counter(zip(trace.events["kind"].tolist(), trace.events["pc"].tolist(), strict=True))
    seen: Counter[tuple[str, str | None]] = Counter()
    for (kind, pc), number in found.items():
        seen[ThreadEventKind(kind).name, trace.header.locations.get(pc)] += number
    for line, number in (("case.c:7", handled), ("case.c:8", handled), ("case.c:15", rounds)):
        assert seen["ATOMIC_UPDATE", line] == number
    assert seen["STORE", "case.c:9"] == handled
    assert seen["LOAD", "case.c:16"] == seen["STORE", "case.c:16"] == rounds


def test_limits_of_the_program_are_its_own(tmp_path):
    trace = record_text(
        tmp_path,
        _MANY_EVENTS
        + """
#include <sys/resource.h>
int main(void) {
    struct rlimit small = {1 << 12, 1 << 12}, none = {3, 3};
    setrlimit(RLIMIT_FSIZE, &small);
    setrlimit(RLIMIT_NOFILE, &none);
    work(0);
    return 0;
}
""",
    )
    assert len(accesses(trace, "case.c:3")) == 600_000


def _small_disk(tmp_path, size, command):
    """Run a command where temporary files have little room; skips where that cannot be arranged."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size={size} none {disk} && TMPDIR={disk} exec "
    own = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*own, f"{mount} true"], capture_output=True, check=False).returncode:
        pytest.skip("No file system can be mounted here: a full disk is not tested")
    return subprocess.run(
        [*own, mount + shlex.join(command)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("room", "message"),
    [
        (40_000, "Instruction counts cannot be written"),
        (2_000_000, "Raw records of the run cannot be"),
    ],
)
def test_a_full_disk_is_said(tmp_path, room, message):
    """There is room for the program, and a little more."""
    source = tmp_path / "many.c"
    source.write_text(
        "static volatile int x;\nint main(void) { for (int i = 0; i < 1000000; i++) x++; }"
    )
    size = compile_program([source], tmp_path, [], []).stat().st_size + room
    command = [sys.executable, "-c", "from racetrap.cli import main; main()"]
    done = _small_disk(
        tmp_path,
        size,
        [*command, "trace", "record", "-o", str(tmp_path / "trace"), "--", str(source)],
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "trace").exists()


def test_a_missing_compiler_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RecordError, match="`gcc` was not found: install"):
        record_text(tmp_path, "int main(void) { return 0; }")


def test_sources_must_be_there_and_c(tmp_path):
    with pytest.raises(RecordError, match=r"nothing\.c was not found"):
        record([tmp_path / "nothing.c"])
    with pytest.raises(RecordError, match=r"Source must end in \.c"):
        record([tmp_path / "program.rs"])
    with pytest.raises(RecordError, match="at least one"):
        record([])
