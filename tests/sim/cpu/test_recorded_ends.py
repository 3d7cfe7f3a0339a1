"""Ends of recorded programs: threads that outlive them, and what a trace lacks is counted."""

import re

import pytest

from racetrap.presenters.recording_remarks import recording_remarks
from racetrap.sim.cpu import recorder
from racetrap.sim.cpu.compiler import RUNTIME, compile_program
from racetrap.sim.cpu.exact_detector import exact_races
from racetrap.sim.cpu.raw import Loss
from racetrap.sim.cpu.recorder import record, record_program
from tests.support.campaign import later_but
from tests.support.threads.recordings import HEAD

#: Far less than the grace, and far more than a small program takes.
_SOON = 0.8

#: What JSON says of a recording that nothing is remarked on.
_SUMMARY = {
    "ending": "", "waiting": [], "threads": 2, "optimisation": None, "unseen_functions": [],
}  # fmt: skip

_OUTLIVES = """
int x;
static void *work(void *pause) { usleep((long)pause); x = 1; return pause; }
int main(int count, char **arguments) {
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)(count > 1 ? atol(arguments[1]) : 0));
    x = 2;
    return 0;
}
"""


def _built(folder, text, *options):
    source = folder / "case.c"
    source.write_text(HEAD + text)
    return compile_program([source], folder, [], options)


def _recorded(folder, text, *options, **run):
    return record_program(_built(folder, text, *options), **run)


@pytest.mark.parametrize(
    "seeds", later_but(lambda seeds: 0 in seeds, [range(3), range(3, 10)]), ids=["few", "others"]
)
def test_a_race_with_a_thread_that_outlives_main_is_found_with_every_seed(tmp_path, seeds):
    program = _built(tmp_path, _OUTLIVES)
    for seed in seeds:
        recording = record_program(program, seed=seed)
        assert len(exact_races(recording.trace)) == 1, seed
        assert recording.run_seconds < _SOON
        assert recording.losses == {}


def test_the_grace_is_an_option(tmp_path):
    program = _built(tmp_path, _OUTLIVES)
    late = ["1500000"]
    assert len(exact_races(record_program(program, late, grace=10.0).trace)) == 1
    recording = record_program(program, late, grace=0.05)
    assert recording.run_seconds < _SOON
    assert (len(exact_races(recording.trace)), recording.losses) == (0, {"outliving_threads": 1})
    with pytest.raises(ValueError, match=r"Grace must be from 0 to 86400 seconds, not -1"):
        record_program(program, grace=-1)


_POOL = """
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_over;
static pthread_t thread;
static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!is_over) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void end(void) {
    pthread_mutex_lock(&mutex);
    is_over = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
}
int main(void) { pthread_create(&thread, 0, work, 0); END return 0; }
"""


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (_POOL.replace("END", "end();"), []),
        (_POOL.replace("END", "atexit(end);"), []),
        (_POOL.replace("END", "pthread_detach(thread); (void)end;"), []),
        (
            "int x[64];\nint main(void) {\n#pragma omp parallel for num_threads(4)\n"
            "for (int i = 0; i < 64; i++) x[i]++;\nreturn 0; }",
            ["-fopenmp"],
        ),
    ],
    ids=["joined", "joined at exit", "waits for ever", "OpenMP"],
)  # fmt: skip
def test_threads_that_are_joined_or_wait_for_ever_cost_no_grace(tmp_path, text, options):
    recording = _recorded(tmp_path, text, *options, grace=30.0)
    assert recording.run_seconds < _SOON
    assert recording.losses == {}
    assert not recording.ending


#: Programs that do once what a trace lacks.
_LACKING = {
    Loss.OUTLIVING_THREADS: _OUTLIVES.replace("usleep((long)pause);", "for (;;)"),
    # Keys are destroyed in their order, four times: the recorder's own, the first, goes before.
    Loss.EVENTS_AFTER_END: """
static pthread_key_t key;
static volatile long rounds;
static void again(void *value) {
    if ((long)value < 4) pthread_setspecific(key, (char *)value + 1);
    else rounds = 1;
}
static void *work(void *unused) { pthread_setspecific(key, (void *)1); return unused; }
int main(void) {
    pthread_t thread;
    pthread_key_create(&key, again);
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
""",
    Loss.LARGE_FREES: "int main(void) { char *block = malloc(1 << 17); *(volatile char *)block = 1;"
    " free(block); return 0; }",
    Loss.FORMATS: 'int main(void) { printf("%2$s %1$s\\n", "a", "b"); return 0; }',
    Loss.CHILDREN: "int main(void) { if (fork()) usleep(1000); return 0; }",
    Loss.UNKNOWN_FRAMES: """
volatile int x;
__attribute__((noinline)) static void down(int left) { x++; if (left) down(left - 1); x++; }
static void *work(void *unused) { down((1 << 18) + 1); return unused; }
int main(void) {
    pthread_attr_t large;
    pthread_t thread;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 128 << 20);
    pthread_create(&thread, &large, work, 0);
    return pthread_join(thread, 0);
}
""",
}


@pytest.mark.parametrize(
    "loss",
    # A full tree of calls is in the tests of calls, too.
    later_but(lambda loss: loss != Loss.UNKNOWN_FRAMES, _LACKING),
    ids=lambda loss: loss.name.lower(),
)
def test_what_a_trace_lacks_is_counted_and_said(tmp_path, loss):
    recording = _recorded(tmp_path, _LACKING[loss], grace=0.02)
    name = loss.name.lower()
    assert recording.losses.keys() - {"frames"} == {name}
    assert 1 <= recording.losses[name] <= 8
    summary = _SUMMARY | {"losses": recording.losses}
    remark = next(recording_remarks(summary))
    assert remark.endswith(f": {recording.losses[name]}.")


def test_every_loss_of_the_runtime_has_a_name_and_a_remark():
    (body,) = re.findall(r"enum loss \{(.*?)\};", (RUNTIME / "raw_file.h").read_text(), re.S)
    names = re.findall(r"^ +(\w+),", body, re.M)
    assert names == [*(loss.name for loss in Loss), "LOSSES"]
    losses = dict.fromkeys((*(loss.name.lower() for loss in Loss), "frames"), 7)
    summary = {
        "ending": "",
        "waiting": [],
        "optimisation": None,
        "threads": 2,
        "losses": losses,
        "unseen_functions": [],
    }
    assert len(set(recording_remarks(summary))) == len(losses)


def test_frames_beyond_those_that_a_trace_names_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "_MOST_FRAMES", 1)
    source = tmp_path / "case.c"
    source.write_text(
        HEAD + "volatile int x;\n__attribute__((noinline)) static void add(void) { x++; }\n"
        "int main(void) { add(); x++; return 0; }"
    )
    recording = record([source])
    assert (len(recording.trace.header.frames), recording.losses) == (1, {"frames": 1})
