"""Recording runs: what ends up in a trace, repeatable, and clear errors for what cannot."""

import numpy as np
import pytest
from thread_recordings import accesses, counts, of_kind, record_text

from racetrap.sim.cpu.recorder import RecordError, record_run

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


def test_a_full_disk_is_said(tmp_path):
    full = tmp_path / "limit.c"
    full.write_text("""
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
static volatile int x;
int main(void) {
    struct rlimit limit = {1 << 22, 1 << 22};  /* files of one part of records */
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 1000000; i++) x++;
    return 0;
}
""")
    with pytest.raises(RecordError, match="Raw records of the run cannot be written: File too"):
        record_run([full])


def test_a_missing_compiler_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RecordError, match="Command gcc was not found: install"):
        record_text(tmp_path, "int main(void) { return 0; }")


def test_sources_must_be_there_and_c(tmp_path):
    with pytest.raises(RecordError, match=r"nothing\.c was not found"):
        record_run([tmp_path / "nothing.c"])
    with pytest.raises(RecordError, match=r"Source must end in \.c"):
        record_run([tmp_path / "program.rs"])
    with pytest.raises(RecordError, match="at least one"):
        record_run([])
