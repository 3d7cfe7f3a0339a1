"""Every kind of synchronisation, used by real programs: which events it makes."""

import numpy as np
import pytest

from racetrap.golden_model.happens_before.lock_order import lock_order_inversions
from racetrap.golden_model.trace.threads.events import MemoryOrder, SyncClass, ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.recorder import RecordError
from racetrap.sim.cpu.verdicts import race_lines
from tests.support.campaign import one_in
from tests.support.threads.recordings import accesses, counts, of_kind, record_text

_UNTIL = "struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_sec += 5;"
_UNTIL_MONOTONIC = "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_sec += 5;"
_PAST = "struct timespec t = {0, 0};"

_MUTEX = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"
_RW = "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;"
_SPIN = "pthread_spinlock_t s; pthread_spin_init(&s, 0);"
_RECURSIVE = (
    "pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, "
    "PTHREAD_MUTEX_RECURSIVE); pthread_mutex_t m; pthread_mutex_init(&m, &a);"
)
_CHECKED = _RECURSIVE.replace("RECURSIVE", "ERRORCHECK")
_WAIT = _MUTEX + "pthread_cond_t c = PTHREAD_COND_INITIALIZER; pthread_mutex_lock(&m);"
_LOCKS = [
    (_MUTEX + "pthread_mutex_lock(&m); pthread_mutex_unlock(&m);", SyncClass.MUTEX, 1, 1),
    (_MUTEX + "pthread_mutex_trylock(&m); pthread_mutex_trylock(&m);", SyncClass.MUTEX, 1, 0),
    (_MUTEX + _UNTIL + "pthread_mutex_timedlock(&m, &t);", SyncClass.MUTEX, 1, 0),
    (
        _MUTEX + _UNTIL_MONOTONIC + "pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &t);",
        SyncClass.MUTEX, 1, 0,
    ),
    (
        _MUTEX + _PAST + "pthread_mutex_lock(&m); pthread_mutex_timedlock(&m, &t);",
        SyncClass.MUTEX, 1, 0,
    ),
    (
        _RECURSIVE + "pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);"
        "pthread_mutex_unlock(&m);",
        SyncClass.MUTEX, 1, 1,
    ),
    (
        _CHECKED + "pthread_mutex_unlock(&m); pthread_mutex_lock(&m); pthread_mutex_lock(&m);",
        SyncClass.MUTEX, 1, 0,
    ),
    (_SPIN + "pthread_spin_lock(&s); pthread_spin_trylock(&s); pthread_spin_unlock(&s);",
     SyncClass.MUTEX, 1, 1),
    (_RW + "pthread_rwlock_rdlock(&l); pthread_rwlock_tryrdlock(&l); pthread_rwlock_unlock(&l);",
     SyncClass.RWLOCK_READ, 2, 1),
    (_RW + _UNTIL + "pthread_rwlock_timedrdlock(&l, &t); pthread_rwlock_trywrlock(&l);",
     SyncClass.RWLOCK_READ, 1, 0),
    (_RW + "pthread_rwlock_wrlock(&l); pthread_rwlock_tryrdlock(&l); pthread_rwlock_unlock(&l);",
     SyncClass.RWLOCK_WRITE, 1, 1),
    (_RW + _UNTIL + "pthread_rwlock_timedwrlock(&l, &t); pthread_rwlock_unlock(&l);",
     SyncClass.RWLOCK_WRITE, 1, 1),
    (_WAIT + _PAST + "if (pthread_cond_timedwait(&c, &m, &t) != ETIMEDOUT) return 1;",
     SyncClass.CONDITION, 0, 0),
    (_WAIT + _PAST + "if (!pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &t)) return 1;",
     SyncClass.MUTEX, 2, 1),
    (_WAIT + "pthread_cond_signal(&c); pthread_cond_broadcast(&c);", SyncClass.CONDITION, 0, 2),
    (
        "sem_t s; sem_init(&s, 0, 0); sem_post(&s); sem_post(&s); sem_wait(&s); sem_trywait(&s);"
        "if (!sem_trywait(&s) || errno != EAGAIN) return 1;",
        SyncClass.SEMAPHORE, 2, 2,
    ),
    (
        "sem_t s; sem_init(&s, 0, 1);" + _UNTIL + "sem_timedwait(&s, &t);"
        "if (!sem_timedwait(&s, &(struct timespec){0, 0})) return 1;",
        SyncClass.SEMAPHORE, 1, 0,
    ),
    ("sem_t s; sem_init(&s, 0, 1);" + _UNTIL_MONOTONIC + "sem_clockwait(&s, CLOCK_MONOTONIC, &t);",
     SyncClass.SEMAPHORE, 1, 0),
    ("pthread_once(&once, nothing); pthread_once(&once, nothing);", SyncClass.FLAG, 2, 1),
    ("__tsan_acquire(&once); __tsan_release(&once);", SyncClass.FLAG, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "acquires", "releases"), one_in(3, _LOCKS))
def test_acquires_and_releases(tmp_path, body, kind, acquires, releases):
    trace = record_text(
        tmp_path,
        "static pthread_once_t once = PTHREAD_ONCE_INIT;\nstatic void nothing(void) {}\n"
        "void __tsan_acquire(void *), __tsan_release(void *);\n"
        f"int main(void) {{ (void)once; (void)nothing; {body} return 0; }}",
    )
    found = counts(trace)
    assert (found["ACQUIRE", kind], found["RELEASE", kind]) == (acquires, releases)


_SOON = ", &(struct timespec){1l << 40, 0})"
_CLOCK = ", CLOCK_REALTIME, &(struct timespec){1l << 40, 0})"
#: Type of a lock, a call that acquires the second one, and whether that waits for ever.
_SECOND_CALLS = [
    ("pthread_mutex_t", "pthread_mutex_lock(b)", True),
    ("pthread_mutex_t", "pthread_mutex_trylock(b)", False),
    ("pthread_mutex_t", "pthread_mutex_timedlock(b" + _SOON, False),
    ("pthread_mutex_t", "pthread_mutex_clocklock(b" + _CLOCK, False),
    ("pthread_spinlock_t", "pthread_spin_lock(b)", True),
    ("pthread_spinlock_t", "pthread_spin_trylock(b)", False),
    *(
        ("pthread_rwlock_t", f"pthread_rwlock_{form}{way}lock(b{last}", form == "")
        for way in ("rd", "wr")
        for form, last in (("", ")"), ("try", ")"), ("timed", _SOON), ("clock", _CLOCK))
    ),
    ("mtx_t", "mtx_lock(b)", True),
    ("mtx_t", "mtx_trylock(b)", False),
    ("mtx_t", "mtx_timedlock(b" + _SOON, False),
    ("omp_lock_t", "omp_set_lock(b)", True),
    ("omp_lock_t", "!omp_test_lock(b)", False),
]
#: Functions of each type: what makes a lock, locks it for writing, and unlocks it.
_OF_TYPE = {
    "pthread_mutex_t": ("pthread_mutex_init(%s, 0)", "pthread_mutex_lock", "pthread_mutex_unlock"),
    "pthread_spinlock_t": ("pthread_spin_init(%s, 0)", "pthread_spin_lock", "pthread_spin_unlock"),
    "pthread_rwlock_t": (
        "pthread_rwlock_init(%s, 0)", "pthread_rwlock_wrlock", "pthread_rwlock_unlock",
    ),
    "mtx_t": ("mtx_init(%s, mtx_plain)", "mtx_lock", "mtx_unlock"),
    "omp_lock_t": ("omp_init_lock(%s)", "omp_set_lock", "omp_unset_lock"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "second", "waits"), one_in(4, _SECOND_CALLS))
def test_an_inversion_by_every_form_of_a_lock(tmp_path, kind, second, waits):
    """Threads, one after the other, take two locks in both orders: who would not wait for ever
    for the second is in no deadlock."""
    make, lock, unlock = _OF_TYPE[kind]
    trace = record_text(
        tmp_path,
        f"""
#include <omp.h>
#include <threads.h>
static {kind} locks[2], *a = &locks[0], *b = &locks[1];
static void *forward(void *unused) {{
    {lock}(a); if ({second}) exit(3); {unlock}(b); {unlock}(a);
    return unused;
}}
static void *backward(void *unused) {{
    {lock}(b); {lock}(a); {unlock}(a); {unlock}(b);
    return unused;
}}
int main(void) {{
    pthread_t thread;
    {make % "a"}; {make % "b"};
    pthread_create(&thread, 0, forward, 0); pthread_join(thread, 0);
    pthread_create(&thread, 0, backward, 0); return pthread_join(thread, 0);
}}
""".replace("if (omp_set_lock(b)) exit(3)", "omp_set_lock(b)"),
        options=["-fopenmp", "-std=gnu11"],
    )
    assert trace.header.source == "case.c"
    assert len(lock_order_inversions(trace)) == waits


def test_waiting_for_a_condition(tmp_path):
    trace = record_text(
        tmp_path,
        """
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int ready;
static void *work(void *unused) {
    pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&m);
    pthread_create(&thread, 0, work, 0);
    while (!ready) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return pthread_join(thread, 0);
}
""",
    )
    events = [e for e in of_kind(trace, "ACQUIRE", "RELEASE") if e.thread == 0]
    names = [(ThreadEventKind(e.kind).name, SyncClass(e.value).name) for e in events]
    assert names == [
        ("ACQUIRE", "MUTEX"),
        ("RELEASE", "MUTEX"), ("ACQUIRE", "MUTEX"), ("ACQUIRE", "CONDITION"),
        ("RELEASE", "MUTEX"),
    ]  # fmt: skip


def test_barriers_of_two_widths_at_one_place(tmp_path):
    trace = record_text(
        tmp_path,
        """
static pthread_barrier_t barrier;
static void *work(void *unused) { pthread_barrier_wait(&barrier); return unused; }
int main(void) {
    for (int width = 2; width < 4; width++) {
        pthread_t threads[2];
        pthread_barrier_init(&barrier, 0, width);
        for (int i = 1; i < width; i++) pthread_create(&threads[i - 1], 0, work, 0);
        pthread_barrier_wait(&barrier);
        for (int i = 1; i < width; i++) pthread_join(threads[i - 1], 0);
        pthread_barrier_destroy(&barrier);
    }
    return 0;
}
""",
    )
    crossings = of_kind(trace, "BARRIER_ARRIVE", "BARRIER_LEAVE")
    assert sorted(event.value for event in crossings) == [2] * 4 + [3] * 6
    assert len({event.address for event in crossings}) == 2


_ATOMIC = """
#include <stdatomic.h>
static _Atomic TYPE x;
int main(void) {
    TYPE e = 7;
    atomic_store_explicit(&x, 5, memory_order_release);
    if (atomic_load_explicit(&x, memory_order_acquire) != 5) return 1;
    if (atomic_exchange_explicit(&x, 6, memory_order_relaxed) != 5) return 2;
    if (atomic_fetch_add(&x, 3) != 6 || atomic_fetch_sub(&x, 1) != 9) return 3;
    if (atomic_fetch_and(&x, 12) != 8 || atomic_fetch_or(&x, 3) != 8) return 4;
    if (atomic_fetch_xor(&x, 1) != 11) return 5;
    if (__atomic_fetch_nand(&x, 2, 3) != 10 || x != (TYPE)-3) return 6;
    x = 9;
    if (atomic_compare_exchange_strong(&x, &e, 1) || e != 9) return 7;
    if (!atomic_compare_exchange_weak_explicit(&x, &e, 1, memory_order_acq_rel,
                                               memory_order_relaxed) || x != 1) return 8;
    return 0;
}
"""


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_atomic_operations(tmp_path, size):
    types = {1: "char", 2: "short", 4: "int", 8: "long", 16: "__int128"}
    # 16 bytes are calls of the compiler's runtime only where the processor can do them.
    options = ["-mcx16", "-latomic"] if size == 16 else []
    trace = record_text(tmp_path, _ATOMIC.replace("TYPE", types[size]), options=options)
    events = of_kind(trace, "ATOMIC_LOAD", "ATOMIC_STORE", "ATOMIC_UPDATE")
    assert {event.size for event in events} == {size}
    found = counts(trace)
    assert found["ATOMIC_STORE", MemoryOrder.RELEASE] == 2
    assert found["ATOMIC_UPDATE", MemoryOrder.RELAXED] == 1
    assert found["ATOMIC_UPDATE", MemoryOrder.RELEASE] == 1
    assert found["ATOMIC_UPDATE", MemoryOrder.ACQ_REL] == 6
    assert found["ATOMIC_LOAD", MemoryOrder.ACQUIRE] == 4  # one is the failed exchange


_WAITING = """
#include <stdatomic.h>
static atomic_int x, begun;
static void *work(void *unused) {
    begun = 1;
    LOOP
    return unused;
}
int main(void) {
    pthread_t thread;
    PREPARE
    pthread_create(&thread, 0, work, 0);
    while (!begun) sched_yield();
    usleep(20000);
    atomic_store(&x, 1);
    return pthread_join(thread, 0);
}
"""


@pytest.mark.parametrize(
    "loop",
    [
        "while (!atomic_load(&x)) {}",
        "while (!atomic_load(&x)) sched_yield();",
        "int one = 1; while (!atomic_compare_exchange_weak(&x, &one, 2)) one = 1;",
        "while (!(atomic_fetch_or(&x, 0) & 1)) {}",
    ],
)
def test_polling_is_collapsed(tmp_path, loop):
    text = _WAITING.replace("LOOP", loop).replace("PREPARE", "")
    trace = record_text(tmp_path, text)
    polls = [e for e in of_kind(trace, "ATOMIC_LOAD", "ATOMIC_UPDATE") if e.thread == 1]
    assert 2 <= len(polls) <= 6
    # The attempt that succeeds comes after what it waited for.
    order = [(e.kind, e.thread) for e in of_kind(trace, "ATOMIC_LOAD", "ATOMIC_STORE",
                                                 "ATOMIC_UPDATE")]  # fmt: skip
    assert order.index((ThreadEventKind.ATOMIC_STORE, 0)) < len(order) - 1
    assert order[-1][1] == 1
    assert sum(event.thread == 1 for event in trace) < 40


def test_fences_order_relaxed_operations(tmp_path):
    text = _WAITING.replace(
        "LOOP", "while (!atomic_load_explicit(&x, memory_order_relaxed)) {}\n"
        "atomic_thread_fence(memory_order_acquire);",
    ).replace("PREPARE", "atomic_thread_fence(memory_order_release);").replace(
        "atomic_store(&x, 1)", "atomic_store_explicit(&x, 1, memory_order_relaxed)"
    )  # fmt: skip
    found = counts(record_text(tmp_path, text))
    assert found["ATOMIC_STORE", MemoryOrder.RELEASE] == 2
    assert found["ATOMIC_STORE", MemoryOrder.RELAXED] == 0
    assert found["ATOMIC_LOAD", MemoryOrder.ACQUIRE] >= 2


_CHANNEL = """
#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <fcntl.h>
static int shared, ends[2];
static char byte;
static void *work(void *unused) {
    %s
    shared++;
    return unused;
}
int main(void) {
    pthread_t thread;
    if (%s) return 1;
    pthread_create(&thread, 0, work, 0);
    shared++;
    %s
    return pthread_join(thread, 0);
}
"""
_RECEIVE = "while (read(ends[0], &byte, 1) != 1) sched_yield();"
_SEND = 'if (write(ends[1], "", 1) != 1) return 2;'


@pytest.mark.parametrize(
    ("receive", "make", "send"),
    [
        (_RECEIVE, "pipe(ends)", _SEND),
        (_RECEIVE, "socketpair(AF_UNIX, SOCK_STREAM, 0, ends)", _SEND),
        ("recv(ends[0], &byte, 1, 0);", "socketpair(AF_UNIX, SOCK_STREAM, 0, ends)",
         'send(ends[1], "", 1, 0);'),
        ("eventfd_t value; eventfd_read(ends[0], &value);", "(ends[0] = eventfd(0, 0)) < 0",
         "eventfd_write(ends[0], 1);"),
        (_RECEIVE, "(ends[0] = open(arguments[1], O_RDWR | O_CREAT, 0600)) < 0 || "
         "(ends[1] = open(arguments[1], O_WRONLY)) < 0", _SEND),
        ("if (read(ends[0], &byte, 1)) abort();", "pipe(ends)", "close(ends[1]);"),
    ],
)  # fmt: skip
def test_order_through_channels(tmp_path, receive, make, send):
    """What is written before is ordered before what is done after reading."""
    text = _CHANNEL.replace("main(void)", "main(int n, char **arguments)") % (receive, make, send)
    text = text.replace("pthread_t thread;", "pthread_t thread; (void)n; (void)arguments;")
    trace = record_text(tmp_path, text, str(tmp_path / "channel"))
    assert race_lines(trace) == frozenset()
    # Without the channel's order it would be one.
    kinds = (ThreadEventKind.ACQUIRE, ThreadEventKind.RELEASE)
    others = trace.events[~np.isin(trace.events["kind"], kinds)]
    assert race_lines(ThreadTrace(trace.header, others)) == {("case.c:10", "case.c:17")}


_C11 = """
#include <threads.h>
static once_flag flag = ONCE_FLAG_INIT; static mtx_t m; static cnd_t c; static int is_there, x, y;
static void prepare(void) { mtx_init(&m, mtx_plain); cnd_init(&c); }
static int work(void *unused) {
    (void)unused;
    call_once(&flag, prepare);
    mtx_lock(&m);
    x++;
    is_there = 1;
    cnd_signal(&c);
    mtx_unlock(&m);
    return 5;
}
int main(void) {
    thrd_t thread;
    int result;
    call_once(&flag, prepare);
    thrd_create(&thread, work, 0);
    mtx_lock(&m);
    while (!is_there) cnd_wait(&c, &m);
    x++;
    mtx_unlock(&m);
    return thrd_join(thread, &result) != thrd_success || result != 5 || x != 2 || y > 6;
}
"""


def test_threads_of_c11(tmp_path):
    trace = record_text(tmp_path, _C11)
    assert trace.header.source == "case.c"  # it has returned 0
    assert race_lines(trace) == frozenset()
    found = counts(trace)
    assert found["ACQUIRE", SyncClass.FLAG] == 2
    assert found["CREATE", 0] == found["JOIN", 0] == 1
    racy = _C11.replace("return 5;", "y = 5; return 5;").replace("return th", "y = 6; return th")
    assert len(race_lines(record_text(tmp_path, racy))) == 1


def test_the_parent_of_a_process_is_followed(tmp_path):
    trace = record_text(
        tmp_path,
        """
#include <sys/wait.h>
static volatile int x;
static void *work(void *unused) { x++; return unused; }
int main(void) {
    pthread_t thread;
    int status;
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 1000; i++) work(malloc(10));
        pthread_create(&thread, 0, work, 0);
        _exit(pthread_join(thread, 0) || x != 1001);
    }
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return waitpid(child, &status, 0) != child || status || system("exit 3") != 3 << 8;
}
""",
    )
    assert trace.header.source == "case.c"
    assert accesses(trace, "case.c:4") == [("LOAD", 4), ("STORE", 4)]


_CHILDREN = """
#include <sys/wait.h>
#include <unistd.h>
static volatile int x, y; static int status, gone[2];
static void *parent(void *unused) { x = 1; return unused; }
static void *child(void *unused) { y++; return unused; }
static void outlive(void) { char end; close(gone[1]); read(gone[0], &end, 1); usleep(200000); }
static void threads(void *(*work)(void *)) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(malloc(10));
    pthread_join(thread, 0);
}
int main(void) {
    threads(parent);
    if (pipe(gone)) return 1;
    pid_t first = fork();
    if (!first) {
        threads(child);
        if (GRANDCHILD && fork()) _exit(3);
        threads(child);
        END;
    }
    threads(parent);
    WAIT;
    threads(parent);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("grandchild", "end", "wait", "text"),
    [
        (0, "return 0", "waitpid(first, &status, 0)", ""),
        (0, "_exit(5)", "waitpid(first, &status, 0)", " (returned 5)"),
        (0, "abort()", "waitpid(first, &status, 0)",
         " (did not exit, but was ended by a signal)"),
        (1, "outlive(); exit(6)", "_exit(2)", " (returned 6)"),
    ],
)  # fmt: skip
def test_a_child_is_followed(tmp_path, grandchild, end, wait, text):
    macros = f"#define GRANDCHILD {grandchild}\n#define END {end}\n#define WAIT {wait}\n"
    trace = record_text(tmp_path, macros + _CHILDREN, child=True)
    assert trace.header.source == f"case.c{text}"
    stores = [accesses(trace, f"case.c:{line}").count(("STORE", 4)) for line in (8, 9)]
    assert stores == [2, 4]  # of the parent before it has forked, and of the child


def test_a_child_of_many_threads_is_followed(tmp_path):
    """Threads that the child does not have write on, in the parent."""
    trace = record_text(
        tmp_path,
        """
#include <sys/wait.h>
static volatile int run = 1, x, y, status;
static void *work(void *unused) {
    while (run) usleep(100);
    for (int i = 0; i < 10000; i++)
        x++;
    return unused;
}
static void *other(void *unused) { y++; return unused; }
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    usleep(20000);
    pid_t child = fork();
    if (!child) {
        pthread_create(&threads[2], 0, other, 0);
        pthread_join(threads[2], 0);
        _exit(0);
    }
    usleep(20000);
    run = 0;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return waitpid(child, (int *)&status, 0) != child || status;
}
""",
        child=True,
    )
    found = counts(trace)
    assert (found["CREATE", 0], found["JOIN", 0]) == (3, 1)
    assert accesses(trace, "case.c:5")
    assert not accesses(trace, "case.c:7")
    assert accesses(trace, "case.c:10") == [("LOAD", 4), ("STORE", 4)]


def test_children_of_children_run_on(tmp_path):
    trace = record_text(
        tmp_path,
        """
#include <sys/wait.h>
int main(void) {
    int status;
    if (!fork()) {
        if (!fork()) _exit(0);
        _exit(wait(&status) < 0 || status);
    }
    return wait(&status) < 0 || status;
}
""",
    )
    assert trace.header.source == "case.c"


def test_a_cancelled_thread_has_its_mutex_again(tmp_path):
    trace = record_text(
        tmp_path,
        """
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static sem_t waits;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int x;
static void clean(void *unused) { (void)unused; x++; pthread_mutex_unlock(&m); }
static void *work(void *unused) {
    pthread_mutex_lock(&m);
    pthread_cleanup_push(clean, 0);
    sem_post(&waits);
    for (;;) pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return unused;
}
int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, work, 0);
    sem_wait(&waits);
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result != PTHREAD_CANCELED || x != 2;
}
""",
    )
    assert trace.header.source == "case.c"
    assert race_lines(trace) == frozenset()
    assert [event.value for event in of_kind(trace, "JOIN")] == [1]


_OPENMP = """
#include <omp.h>
#define READ(variable) ((void)*(volatile int *)&(variable))
static int x, y[64]; static omp_lock_t lock;
int main(void) {
    omp_init_lock(&lock);
    #pragma omp parallel num_threads(4)
    {
        %s
    }
    x++;
    return x < 0;
}
"""
_LOOP = "for (int i = 0; i < 64; i++) y[i]++;"
_ORDERED_LOOP = "for (int i = 0; i < 8; i++) {\n#pragma omp ordered\nx += i;\n}"
_SECTIONS = "{\n#pragma omp section\nx++;\n#pragma omp section\ny[0]++;\n}\nREAD(x);"


@pytest.mark.parametrize(
    ("body", "races"),
    one_in(3, [
        ("x++;", True),
        ("\n#pragma omp critical\nx++;", False),
        ("\n#pragma omp critical(named)\nx++;", False),
        ("\n#pragma omp atomic\nx++;", False),
        ("omp_set_lock(&lock); x++; omp_unset_lock(&lock);", False),
        ("if (omp_test_lock(&lock)) { x++; omp_unset_lock(&lock); }", False),
        (f"\n#pragma omp for\n{_LOOP}\nREAD(y[63]);", False),
        (f"\n#pragma omp for nowait\n{_LOOP}\nREAD(y[63]);", True),
        (f"\n#pragma omp for schedule(dynamic)\n{_LOOP}\nREAD(y[63]);", False),
        (f"\n#pragma omp for ordered\n{_ORDERED_LOOP}", False),
        ("\n#pragma omp single\nx++;\nREAD(x);", False),
        ("\n#pragma omp single nowait\nx++;\nREAD(x);", True),
        ("y[omp_get_thread_num()] = 1;\n#pragma omp barrier\nREAD(y[3]);", False),
        ("y[omp_get_thread_num()] = 1;\nREAD(y[3]);", True),
        (f"\n#pragma omp sections\n{_SECTIONS}", False),
        ("int own;\n#pragma omp single copyprivate(own)\nown = x++;\nREAD(own);", False),
    ]),
)  # fmt: skip
def test_openmp(tmp_path, body, races):
    trace = record_text(tmp_path, _OPENMP % body, options=["-fopenmp"])
    assert trace.header.source == "case.c"
    assert trace.header.threads == 4
    assert bool(race_lines(trace)) == races


_TASKS = """
#include <omp.h>
static int x, y, started;
static void meet(int count) {  // in different threads, with no order
    __atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&started, __ATOMIC_RELAXED) < count) usleep(100);
}
static int get(volatile int *from) { return *from; }
int main(void) {
    #pragma omp parallel num_threads(4)
    #pragma omp single
    {
        %s
    }
    return get(&x) + get(&y) < 0;
}
"""
_TASK = "\n#pragma omp task %s\n{ %s }\n"


def _tasks(*bodies):
    return "".join(_TASK % body for body in bodies)


@pytest.mark.parametrize(
    ("body", "races"),
    one_in(3, [
        ("x = 1;" + _tasks(("", "meet(2); x++;")) + "meet(2);", False),
        (_tasks(("", "meet(2); x++;")) + "meet(2); x++;", True),
        (_tasks(("", "meet(2); x++;")) + "meet(2);\n#pragma omp taskwait\nx++;", False),
        (_tasks(("", "meet(2); x++;"), ("", "meet(2); x++;")), True),
        (_tasks(("depend(out: y)", "x++;"), ("depend(in: y)", "x++;")), False),
        (_tasks(("depend(in: y)", "meet(2); x++;"), ("depend(in: y)", "meet(2); x++;")), True),
        (_tasks(("depend(in: y)", "get(&x);"), ("depend(in: y)", "get(&x);"),
                ("depend(inout: y)", "x++;")), False),
        ("\n#pragma omp taskgroup\n{" + _tasks(("", _TASK % ("", "x++;"))) + "}\nx++;", False),
        (_tasks(("", _TASK % ("", "meet(2); x++;")))
         + "\n#pragma omp taskwait\nmeet(2); x++;", True),
        (_tasks(("if(0)", "x++;")) + "x++;", False),
        ("int own = 3;" + _tasks(("firstprivate(own)", "x += own;")), False),
        ("\n#pragma omp taskloop num_tasks(2)\n"
         "for (int i = 0; i < 2; i++) { meet(2); x += i; }", True),
        ("int z[8] = {0};\n#pragma omp taskloop grainsize(2) shared(z)\n"
         "for (int i = 0; i < 8; i++) z[i] = i;\nx = z[7] == 7 ? z[0] : z[9999999];", False),
        ("int z[8] = {0};\n#pragma omp taskloop nogroup num_tasks(1)\n"
         "for (int i = 0; i < 8; i++) { if (!i) meet(2); x = i; }\nmeet(2); x = z[0];", True),
    ]),
)  # fmt: skip
def test_openmp_tasks(tmp_path, body, races):
    trace = record_text(tmp_path, _TASKS % body, options=["-fopenmp"], timeout=20)
    assert trace.header.source == "case.c"
    assert bool(race_lines(trace)) == races


def test_openmp_tasks_before_a_barrier(tmp_path):
    text = """
#include <omp.h>
static int x;
int main(void) {
    #pragma omp parallel num_threads(3)
    {
        #pragma omp master
        {
            #pragma omp task
            x++;
        }
        #pragma omp barrier
        (void)*(volatile int *)&x;
    }
    return x < 0;
}
"""
    assert race_lines(record_text(tmp_path, text, options=["-fopenmp"])) == frozenset()
    racy = text.replace("#pragma omp barrier", "")
    assert race_lines(record_text(tmp_path, racy, options=["-fopenmp"]))


def test_openmp_tasks_that_are_not_followed(tmp_path):
    text = _TASKS % "omp_event_handle_t end;\n" + _TASKS[:0]
    body = "omp_event_handle_t end;\n#pragma omp task detach(end)\nomp_fulfill_event(end);"
    text = _TASKS % body
    with pytest.raises(RecordError, match="Tasks of OpenMP must have no clause in_reduction or"):
        record_text(tmp_path, text, options=["-fopenmp"], timeout=20)


def test_openmp_loops_in_one_region(tmp_path):
    text = """
static int x[1000], sum;
int main(void) {
    #pragma omp parallel for num_threads(3) schedule(dynamic, 10) reduction(+:sum)
    for (int i = 0; i < 1000; i++) sum += x[i];
    #pragma omp parallel for num_threads(3)
    for (int i = 0; i < 1000; i++) x[i] = sum;
    return x[999] != 0;
}
"""
    assert race_lines(record_text(tmp_path, text, options=["-fopenmp"])) == frozenset()
    racy = text.replace(" schedule(dynamic, 10) reduction(+:sum)", "")
    assert race_lines(record_text(tmp_path, racy, options=["-fopenmp"]))
