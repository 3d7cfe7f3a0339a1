"""Plain accesses: all widths and forms, functions of the C library, marks, and the heap."""

import pytest

from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.cpu.verdicts import race_lines
from tests.support.campaign import one_in
from tests.support.threads.recordings import accesses, counts, of_kind, record_text

_WIDTHS = """
typedef struct { char bytes[40]; } block;
static volatile char c; static volatile short s; static volatile int i; static volatile long l;
__int128 wide; block from, to;
struct __attribute__((packed)) { char pad; long value; } packed;
int main(void) {
    c = 1;
    s = 1;
    i = 1;
    l = 1;
    wide = 1;
    packed.value = 1;
    to = from;
    i++;
    return 0;
}
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (7, [("STORE", 1)]),
        (8, [("STORE", 2)]),
        (9, [("STORE", 4)]),
        (10, [("STORE", 8)]),
        (11, [("STORE", 16)]),
        (12, [("STORE", 8)]),
        (14, [("LOAD", 4), ("STORE", 4)]),
    ],
)
def test_widths(tmp_path, line, expected):
    assert accesses(record_text(tmp_path, _WIDTHS), f"case.c:{line}") == expected


def test_ranges_are_split_at_16_bytes(tmp_path):
    trace = record_text(tmp_path, _WIDTHS)
    moved = [e for e in trace if trace.header.locations.get(e.pc) == "case.c:13"]
    for kind in (ThreadEventKind.LOAD, ThreadEventKind.STORE):
        parts = [event for event in moved if event.kind == kind]
        assert sum(event.size for event in parts) == 40
        for event in parts:
            assert event.address % 16 + event.size <= 16


@pytest.mark.parametrize(
    ("call", "loaded", "stored"),
    one_in(3, [
        ("memset(to, 0, n);", 0, 40),
        ("memcpy(to, from, n);", 40, 40),
        ("memmove(to + 1, to, n);", 40, 40),
        ("mempcpy(to, from, n);", 40, 40),
        ("bzero(to, n);", 0, 40),
        ("memcpy(to, from, 4);", 4, 4),
        ("sink = memcmp(to, from, n);", 2, 0),
        ("sink = memchr(from, 'c', n) != 0;", 3, 0),
        ("sink = strlen(from);", 7, 0),
        ("sink = strchr(from, 'b') != 0;", 2, 0),
        ("sink = strchr(from, 'x') != 0;", 7, 0),
        ("sink = strrchr(from, 'b') != 0;", 7, 0),
        ("sink = strcmp(from, other);", 12, 0),
        ("sink = strncmp(from, other, 3);", 6, 0),
        ("strcpy(to, from);", 7, 7),
        ("stpcpy(to, from);", 7, 7),
        ("strncpy(to, from, 3);", 3, 3),
        ("strncpy(to, from, 20);", 7, 20),
        ("strcat(to, from);", 8, 7),
        ("strncat(to, from, 3);", 4, 4),
        ("sink = strdup(from) != 0;", 7, 7),
    ]),
)  # fmt: skip
def test_functions_of_the_c_library(tmp_path, call, loaded, stored):
    trace = record_text(
        tmp_path,
        'static char from[64] = "abcdef", other[64] = "abcdeg", to[64];\n'
        f"volatile int sink;\nint main(int n, char **v) {{ (void)v; n += 39;\n{call}\n"
        "return 0; }",
    )
    found = [
        event for event in trace
        if trace.header.locations.get(event.pc) == "case.c:4" and event.address < 1 << 31
    ]  # fmt: skip
    own = [e for e in found if e.size != 4 or "sink" not in call or e.kind != 1]
    for kind, expected in ((ThreadEventKind.LOAD, loaded), (ThreadEventKind.STORE, stored)):
        assert sum(event.size for event in own if event.kind == kind) == expected


def test_marks_may_nest(tmp_path):
    trace = record_text(
        tmp_path,
        """
static volatile int x;
int main(void) {
    racetrap_collect_off(); racetrap_collect_off();
    x++;
    racetrap_collect_on();
    x++;
    racetrap_collect_on();
    return 0;
}
""",
    )
    kinds = [ThreadEventKind(e.kind).name for e in of_kind(trace, "STORE", "COLLECT_OFF",
                                                           "COLLECT_ON")]  # fmt: skip
    assert kinds == ["COLLECT_OFF", "STORE", "STORE", "COLLECT_ON"]


def test_the_heap(tmp_path):
    trace = record_text(
        tmp_path,
        """
int main(void) {
    char *a = malloc(10), *b = calloc(3, 7), *c = aligned_alloc(64, 128), *d;
    if (posix_memalign((void **)&d, 4096, 5) || (size_t)c % 64 || (size_t)d % 4096) return 1;
    for (int i = 0; i < 21; i++) if (b[i]) return 2;
    a[9] = 5;
    a = realloc(a, 100000);
    if (a[9] != 5 || malloc((size_t)-1) || errno != ENOMEM) return 3;
    free(a); free(b); free(c); free(d); free(0);
    return 0;
}
""",
        options=["-O0"],  # else the compiler does without some
    )
    # The first block is the C library's, for the program as for any.
    assert sorted(e.value for e in of_kind(trace, "ALLOCATE")) == [5, 10, 21, 128, 100000]
    assert len(of_kind(trace, "FREE")) == 5
    for e in of_kind(trace, "ALLOCATE", "FREE"):
        assert 1 << 29 <= e.address < 1 << 32


def test_freed_memory_is_used_again_in_the_end(tmp_path):
    trace = record_text(
        tmp_path,
        """
int main(void) {
    for (int i = 0; i < 600; i++) free(malloc(1 << 20));
    return 0;
}
""",
        options=["-O0"],
    )
    blocks = [event.address for event in of_kind(trace, "ALLOCATE")]
    assert len(blocks) == 600
    assert 230 <= len(set(blocks)) <= 260
    freed = {}
    for event in of_kind(trace, "ALLOCATE", "FREE"):
        freed[event.address] = event.kind == ThreadEventKind.FREE
    assert [address for address, is_freed in freed.items() if not is_freed] == []


_CXX = """
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
struct Base { virtual ~Base() {} virtual int value() { return 1; } };
struct Derived : Base { int value() override { return 2; } };
static std::mutex mutex;
static std::condition_variable ready;
static std::once_flag once;
static std::atomic<int> counter{0};
static int total;
static bool is_ready;
static Base *volatile object = new Derived;
static Base &shared() { static Derived derived; return derived; }
static void work() {
    std::call_once(once, [] { total = 1; });
    counter.fetch_add(shared().value() - 2 + object->value(), std::memory_order_acq_rel);
    std::unique_lock<std::mutex> guard(mutex);
    total++;
    is_ready = true;
    ready.notify_one();
}
int main() {
    std::vector<std::unique_ptr<std::thread>> threads;
    for (int i = 0; i < 3; i++) threads.push_back(std::make_unique<std::thread>(work));
    {
        std::unique_lock<std::mutex> guard(mutex);
        while (!is_ready) ready.wait(guard);
    }
    for (auto &thread : threads) thread->join();
    return !(total == 4 && counter == 6);
}
"""


def test_cxx(tmp_path):
    trace = record_text(tmp_path, _CXX, suffix=".cpp")
    found = counts(trace)
    assert trace.header.threads == 4
    assert found["CREATE", 0] == found["JOIN", 0] == 3
    assert found["RELEASE", 5] == 1  # call_once
    assert found["ACQUIRE", 5] == 3
    assert found["ATOMIC_UPDATE", 3] == 3
    guards = [e for e in of_kind(trace, "ATOMIC_STORE") if e.size == 1]
    assert len(guards) == 1  # of the function's static variable
    # The object's pointer, and its pointer to virtual functions.
    assert accesses(trace, "case.cpp:20").count(("LOAD", 8)) >= 2 * 3


_FREED = """
static char *block;
static volatile int is_used;
static void *work(void *unused) { block[5] = 1; is_used = 1; return unused; }
int main(void) {
    pthread_t thread;
    block = malloc(100);
    pthread_create(&thread, 0, work, 0);
    while (!is_used) sched_yield();
    free(block);
    return pthread_join(thread, 0);
}
"""


def test_free_is_a_write(tmp_path):
    trace = record_text(tmp_path, _FREED)
    assert ("case.c:10", "case.c:4") in race_lines(trace)
    stores = [event for event in of_kind(trace, "STORE") if event.address >= 1 << 29]
    freed = of_kind(trace, "FREE")[-1].address
    assert sum(event.size for event in stores if freed <= event.address < freed + 100) >= 101


_LIBRARY = """
static char shared[64] = "00000000"; static volatile int sink; static int zero; static FILE *file;
int compare(const void *one, const void *other) { (void)one; (void)other; return sink; }
static void *work(void *unused) {
    %s
    return unused;
}
int main(void) {
    pthread_t thread;
    zero = fileno(file = fopen("/dev/zero", "r+"));
    pthread_create(&thread, 0, work, 0);
    shared[1] = '1';
    return pthread_join(thread, 0);
}
"""


@pytest.mark.parametrize(
    "use",
    one_in(3, [
        'snprintf(shared, 20, "%d", 5);',
        'sprintf(shared, "%s-%d", "a", 5);',
        "qsort(shared, 8, 1, compare);",
        "if (read(zero, shared, 8) != 8) abort();",
        "if (!fread(shared, 8, 1, file)) abort();",
        "sink = strtol(shared, 0, 10);",
        'fprintf(file, "%5s %ld %s", "x", 3L, shared);',
        'sink = strstr(shared, "x") != 0;',
    ]),
)  # fmt: skip
def test_accesses_of_the_library_race(tmp_path, use):
    trace = record_text(tmp_path, _LIBRARY.replace("%s", use, 1))
    assert ("case.c:12", "case.c:5") in race_lines(trace)


@pytest.mark.parametrize("section", [".text", "behind_all"])
def test_the_last_call_of_a_program_is_recorded(tmp_path, section):
    """A call behind which no call of the runtime comes any more: the last of the last function."""
    trace = record_text(
        tmp_path,
        f"""
static char bytes[2]; static int zero;
int main(void) {{ extern void last(void); zero = open("/dev/zero", 0); last(); return 0; }}
__attribute__((section("{section}"))) void last(void) {{
    (void)!read(zero, bytes, 2);
}}
""",
        options=["-include", "fcntl.h"],
    )
    assert ("STORE", 2) in accesses(trace, "case.c:5")


@pytest.mark.parametrize(("precision", "races"), [(1, 0), (2, 1)])
def test_a_string_is_read_as_far_as_its_precision_says(tmp_path, precision, races):
    use = f'fprintf(file, "%.{precision}s", shared);'
    trace = record_text(tmp_path, _LIBRARY.replace("%s", use, 1))
    assert len(race_lines(trace)) == races
