"""Workers that die, in the pool itself and in each command that has one."""

import os

import pytest

from racetrap.commands import campaign, cost, evaluate, evaluate_sigrace
from racetrap.commands.worker_pool import worker_pool

_SENTENCE = (
    "racetrap: Worker process died in the middle of a run; fewer at a time need less memory.\n"
)


def _die(jobs, pool, done):
    pool.submit(os._exit, 1).result()


def test_runs_are_counted():
    with worker_pool(1, "Adding", 2) as (pool, done):
        assert pool.submit(sum, (1, 2)).result() == 3
        done()
        done(1)


def test_a_worker_that_dies(capsys):
    with pytest.raises(SystemExit) as caught, worker_pool(1, "Dying", 1) as (pool, done):
        _die([], pool, done)
    assert caught.value.code == 3
    assert capsys.readouterr().err == _SENTENCE


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        (cost, ("cost", "scord-tiny", "--blocks", "barrier_ids")),
        (evaluate, ("evaluate", "scor", "--hardware", 0)),
        (evaluate_sigrace, ("evaluate", "sigrace", "--hardware", "none")),
    ],
)
def test_commands_end_in_one_sentence(racetrap, monkeypatch, module, arguments):
    monkeypatch.setattr(module, "run_jobs", _die)
    done = racetrap(*arguments)
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == _SENTENCE


def test_campaign_ends_in_one_sentence(racetrap, monkeypatch):
    monkeypatch.setattr(campaign, "missing_tools", list)
    monkeypatch.setattr(campaign, "build_fast", lambda name, params: None)
    monkeypatch.setattr(campaign, "compare_volume", lambda model, volume, seed, pool, width: (
        [_die([], pool, None)]
    ))  # fmt: skip
    done = racetrap("campaign", "--preset", "scord-tiny")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == _SENTENCE
