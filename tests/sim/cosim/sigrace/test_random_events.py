"""Random commands: repeatable, within the hardware's widths, and far enough into the corners."""

from collections import Counter
from dataclasses import replace

import pytest

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import Cause, CoreOp, Drop, RdmStepKind, Relation
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.sim.cosim.sigrace.knobs import KNOBS, Knobs
from racetrap.sim.cosim.sigrace.random_events import random_events
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.random_commands import play

_PARAMS = {
    "small": SMALL,
    "one of each": replace(SMALL, cores=1, threads=1),
    "contexts, hashed": replace(SMALL, contexts=3, threads=9, form=Form.HASHED),
    "default": SigraceParams(),
}


def test_the_same_seed_gives_the_same_commands():
    runs = [list(random_events(SMALL, KNOBS["mixed"], seed, 200)) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("name", _PARAMS)
@pytest.mark.parametrize("knobs", KNOBS)
def test_events_fit_the_hardware(name, knobs):
    params = _PARAMS[name]
    for command in random_events(params, KNOBS[knobs], 1, 300):
        assert 0 <= command.core < params.cores
        assert 0 <= command.context < params.contexts
        if isinstance(command, Remap):
            assert command.thread is None or 0 <= command.thread < params.threads
        else:
            params.event_layout.pack(command.event._asdict())
            if command.event.op <= CoreOp.STORE:
                assert 1 <= command.event.size <= 16


def test_all_mixes_together_reach_every_corner():
    seen = Counter()
    for number, knobs in enumerate(KNOBS.values()):
        played = play(SMALL, random_events(SMALL, knobs, number, 3000))
        for _, _, step in played.core_steps:
            seen[f"op {step.event.op}"] += 1
            seen[f"cause {int(step.cause)}"] += 1
            seen["saturated"] += step.saturated
            seen["traps"] += step.traps
        for step in played.rdm_steps:
            seen[f"kind {step.kind}"] += 1
            seen[f"drop {step.drop}"] += 1
            seen["lost"] += bool(step.lost)
            if step.kind == RdmStepKind.COMPARE:
                seen[f"relation {step.relation}"] += 1
                seen[f"conflict {int(step.conflict)}"] += 1
    expected = [
        *(f"op {int(op)}" for op in (*CoreOp, 14)),
        *(f"cause {int(cause)}" for cause in Cause),
        *(f"kind {int(kind)}" for kind in RdmStepKind),
        *(f"relation {int(relation)}" for relation in Relation),
        # What core units send is never malformed.
        *(f"drop {int(drop)}" for drop in Drop if drop != Drop.MALFORMED),
        *(f"conflict {kind}" for kind in range(8)),
        "saturated",
        "traps",
        "lost",
    ]
    assert [corner for corner in expected if not seen[corner]] == []


def test_rates_beyond_one():
    with pytest.raises(ValueError, match=r"Sum of the rates must be at most 1, not 1\.4999"):
        next(random_events(SMALL, Knobs(plain=0.7, sync=0.79625), 1, 1))
