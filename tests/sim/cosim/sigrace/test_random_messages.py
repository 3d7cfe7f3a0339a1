"""Random Summary messages: good without faults, dropped for each reason with them."""

from random import Random

from racetrap.generators.presets import find_preset
from racetrap.golden_model.sigrace.decompressor import decode
from racetrap.golden_model.sigrace.packets import Drop, RdmStepKind
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.sim.cosim.sigrace.random_messages import RandomMessages, link_of

_PARAMS = find_preset("sigrace-tiny").params
_THREADS = {(0, 0): 0, (1, 0): 1}


def _last_steps(faults, count=600, seed=3):
    """Last step of each message that a golden RDM makes, and its link."""
    source, rdm = RandomMessages(_PARAMS, Random(seed)), Rdm(_PARAMS)
    for (core, context), thread in _THREADS.items():
        rdm.map(core, context, thread)
    for number in range(count):
        link = number % _PARAMS.cores
        flits = source.message(link, _THREADS, faults)
        yield rdm.message(flits, link)[-1], link, decode(_PARAMS, flits)


def test_messages_without_faults_are_good():
    assert {step.kind for step, *_ in _last_steps(0.0)} == {RdmStepKind.PUSH}


def test_faults_are_dropped_for_every_reason():
    assert {step.drop for step, *_ in _last_steps(0.5)} == set(Drop)


def test_header_tells_the_link():
    for _, link, summary in _last_steps(0.8):
        assert link_of(summary.core, summary.cause) == link


def test_numbers_begin_anew_after_a_restart():
    source = RandomMessages(_PARAMS, Random(5))
    source.message(0, _THREADS, 0.0)
    source.restart()
    assert decode(_PARAMS, source.message(0, _THREADS, 0.0)).sequence == 0


def test_same_seed_gives_the_same_messages():
    one, other = (RandomMessages(_PARAMS, Random(9)) for _ in range(2))
    for _ in range(50):
        assert one.message(1, _THREADS, 0.5) == other.message(1, _THREADS, 0.5)
