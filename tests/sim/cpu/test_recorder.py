"""Recording runs: what ends up in a trace, repeatable, and clear errors for what cannot."""

import shlex
import subprocess
import sys

import numpy as np
import pytest

from racetrap.sim.cpu.recorder import RecordError, record
from tests.support.threads.recordings import accesses, counts, of_kind, record_text

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
    assert all(event.instructions for event in of_kind(trace, "LOAD", "STORE"))


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
    ["exit(0);", "_exit(0);", "quick_exit(0);", "pthread_exit(0);", "return 0;"],
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
        ("int main(void) { return 5; }", "Program must return 0, not 5"),
        ("int main(void) { abort(); }", "ended by signal SIGABRT"),
        ("int main(void) { return fork() < 0; }", "Function fork cannot be recorded: another"),
        (
            "int main(void) { for (;;) sleep(1); }",
            "Program must end within 1 seconds",
        ),
        (
            _WORK + "int main(void) { return pthread_mutex_unlock(&mutex); }",
            "Mutex must be unlocked by the thread that holds it, not by thread 0",
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


def test_a_deadlock_is_found_early(tmp_path):
    with pytest.raises(RecordError, match="deadlock: all 2 threads wait"):
        record_text(
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


@pytest.mark.parametrize("closing", ["fclose(stdin)", "close(0)", "closefrom(0)"])
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
    ("size", "message"),
    [("2m", "Instruction counts cannot be written"), ("12m", "Raw records of the run cannot be")],
)
def test_a_full_disk_is_said(tmp_path, size, message):
    source = tmp_path / "many.c"
    source.write_text(
        "static volatile int x;\nint main(void) { for (int i = 0; i < 1000000; i++) x++; }"
    )
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
