"""Threads of a deadlock, and the locks that they wait for, from a recorded run."""

from racetrap.sim.cpu.recorder import record

_TEXT = """\
#include <pthread.h>
#include <stdatomic.h>
pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
atomic_int here;
static void *work(void *own)
{
    pthread_mutex_lock(own == locks ? locks : locks + 1);
    here++;
    while (here < 2)
        ;
    pthread_mutex_lock(own == locks ? locks + 1 : locks);
    return own;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, work, locks);
    pthread_create(&other, 0, work, locks + 1);
    pthread_join(one, 0);
    return pthread_join(other, 0);
}
"""


def test_each_waits_for_the_lock_that_the_other_holds(tmp_path):
    source = tmp_path / "case.c"
    source.write_text(_TEXT)
    recording = record([source], timeout=30)
    assert recording.ending.startswith("in a deadlock")
    main, *others = recording.waiting
    assert (main.thread, main.holder) == (0, None)
    assert [(waiting.thread, waiting.holder) for waiting in others] == [(1, 2), (2, 1)]
    assert abs(others[0].address - others[1].address) == 40  # bytes of a mutex
    places = recording.trace.header.locations
    assert {places[waiting.holder_pc] for waiting in others} == {"case.c:7"}
    assert {places[waiting.pc] for waiting in others} == {"case.c:9"}


def test_a_program_that_ends_waits_for_nothing(tmp_path):
    source = tmp_path / "case.c"
    source.write_text("int main(void) { return 3; }")
    assert record([source]).waiting == []
