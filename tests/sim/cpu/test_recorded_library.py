"""Functions of the C library that access the program's memory: each one's accesses, by a program
that calls it once on its own line."""

import pytest

from racetrap.golden_model.trace.threads.events import ThreadEventKind
from tests.support.campaign import one_in
from tests.support.threads.recordings import accesses, record_text

#: A call on buffers `to` and `from` (a text, "12 ab 3.5"), and the bytes read and written in them.
_CALLS = [
    ('sscanf(from, "%d %s %f", &i, to, &f);', {"from": 10}, {"i": 4, "to": 3, "f": 4}),
    ('sscanf(from, "%*d %2c%ln", to, &l);', {"from": 10}, {"to": 2, "l": 8}),
    ('sscanf(from, "%hhd %d", to, &i);', {"from": 10}, {"to": 1}),
    ('sscanf(from, "%[^ ] x", to);', {"from": 10}, {"to": 3}),
    ('printf("%.3s %-*d %s\\n", from, 5, 7, from + 8);', {"from": 5}, {}),
    ('printf("%.3s|%5.2f|%Lf|%c|%ld|%%|%s\\n", from, 1.0, 2.0L, 65, 3L, from);',
     {"from": 13}, {}),
    ('snprintf(to, 32, "%d%n", 4711, &i);', {}, {"to": 5, "i": 4}),
    ("localtime_r(&l, &tm);", {"l": 8}, {"tm": 56}),
    ("gmtime_r(&l, &tm);", {"l": 8}, {"tm": 56}),
    ("mktime(&tm);", {"tm": 56}, {"tm": 56}),
    ('strftime(to, 32, "%Y", &tm);', {"tm": 56}, {"to": 5}),
    ("time(&l);", {}, {"l": 8}),
    ("clock_gettime(CLOCK_REALTIME, &ts);", {}, {"ts": 16}),
    ('if (!realpath("/", to)) abort();', {}, {"to": 2}),
    ('if (!getcwd(to, 4096)) abort();', {}, {"to": None}),
    ('if (readlink("/proc/self/exe", to, 4) != 4) abort();', {}, {"to": 4}),
    ('if (stat("/", &st)) abort();', {}, {"st": 144}),
    ("if (fstat(1, &st)) abort();", {}, {"st": 144}),
    ("uname(&un);", {}, {"un": 390}),
    ("if (pipe(ends)) abort();", {}, {"ends": 8}),
    ("poll(&file, 1, 0);", {"file": 8}, {"file": 2}),
    ("i = strtof(from, &rest) > 0;", {"from": 3}, {"rest": 8}),
    ('strtok_r(from, " ", &rest);', {"from": 3}, {"from": 1, "rest": 8}),
    ('strsep(&text, " ");', {"text": 8, "from": 3}, {"text": 8, "from": 1}),
    ("stpncpy(to, from, 20);", {"from": 10}, {"to": 20}),
    ("explicit_bzero(to, 5);", {}, {"to": 5}),
    ("rand_r(&u);", {"u": 4}, {"u": 4}),
    ("modf(d, &d);", {}, {"d": 8}),
    ("sincos(d, &d, &other);", {}, {"d": 8, "other": 8}),
    ("frexp(2.5, &i);", {}, {"i": 4}),
    ('if (inet_pton(AF_INET, "127.0.0.1", to) != 1) abort();', {}, {"to": 4}),
    ("if (waitpid(child, &i, 0) < 0) abort();", {}, {"i": 4}),
    ("if (posix_memalign((void **)&rest, 64, 5)) abort();", {}, {"rest": 8}),
    ('if (asprintf(&rest, "ab") != 2) abort();', {}, {"rest": 8}),
]  # fmt: skip

_PROGRAM = """
#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
char from[64] = "12 ab 3.5", to[4096], *rest, *text = from;
int i, ends[2]; unsigned u; long l; float f; double d, other; pid_t child;
struct tm tm; struct timespec ts; struct stat st; struct utsname un;
struct pollfd file = {1, POLLOUT, 0};
int main(void) {
    if (!(child = fork())) _exit(3);
#line 100
    CALL
    return 0;
}
"""


@pytest.mark.parametrize(
    ("call", "read", "written"), one_in(3, _CALLS), ids=[call for call, *_ in _CALLS]
)
def test_accesses_of_a_call(tmp_path, call, read, written):
    trace = record_text(tmp_path, _PROGRAM.replace("CALL", call), options=["-lm", "-w"])
    names = {variable.name: (at, variable.size) for at, variable in trace.header.variables.items()}
    for kind, expected in ((ThreadEventKind.LOAD, read), (ThreadEventKind.STORE, written)):
        for name, size in expected.items():
            begin, room = names[name]
            found = [
                event.size for event in trace
                if event.kind == kind and begin <= event.address < begin + room
                and trace.header.locations.get(event.pc) == "case.c:100"
            ]  # fmt: skip
            assert sum(found) == size if size else found, (kind.name, name)


def test_objects_that_the_compiler_makes_are_not_the_programs(tmp_path):
    text = "double a, b;\nint main(void) {\na = sin(b); b = cos(b);\nreturn 0; }"
    trace = record_text(tmp_path, text, options=["-lm", "-include", "math.h"])
    written = [each for each in accesses(trace, "case.c:3") if each[0] == "STORE"]
    assert written == [("STORE", 8)] * 2
