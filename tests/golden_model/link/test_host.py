"""Host and device of the golden model on bad lines: everything is done once and in order."""

from __future__ import annotations

import random
from types import ModuleType

import pytest

from racetrap.golden_model.link.device import LinkDevice
from racetrap.golden_model.link.frames import REPLY, Decoder, Frame, Kind, encode
from racetrap.golden_model.link.host import LinkHost
from tests.support import REPOSITORY
from tests.support.link.faults import FAULTS, BadLine
from tests.support.link.golden_bench import play
from tests.support.link.loopback import Loopback, LoopParams
from tests.support.link.planted_bugs import GOLDEN_BUGS
from tests.support.link.traffic import Traffic

_RUNS, _REQUESTS = 2000, 20
#: Runs in which a bug must be found.
_FEW = 200


def test_nothing_is_lost_or_done_twice_on_any_line():
    """Bad lines, killed hosts and resets of the device in the middle of a request."""
    seen = [play(seed, _REQUESTS) for seed in range(_RUNS)]
    for name in ("killed", "reset", "resends"):
        assert sum(run[name] for run in seen) > _RUNS // 10, name


def _play_some(modules: dict[str, ModuleType]) -> None:
    for seed in range(_FEW):
        play(seed, _REQUESTS, **modules)


@pytest.mark.parametrize("name", GOLDEN_BUGS)
def test_planted_bug_is_found(name):
    patch, modules = GOLDEN_BUGS[name], {}
    for part in ("frames", "device", "host"):
        file = f"link/{part}.py"
        text = (REPOSITORY / "golden_model" / file).read_text(encoding="utf-8")
        modules[part] = ModuleType(part)
        text = patch.changed(text) if patch.file == file else text
        exec(compile(text, file, "exec", dont_inherit=True), vars(modules[part]))
        modules[part].Decoder = modules["frames"].Decoder
    del modules["frames"]
    with pytest.raises((AssertionError, TimeoutError, ValueError)):
        _play_some(modules)


def test_every_record_comes_back():
    faults = dict.fromkeys(FAULTS, 0)
    for seed in range(200):
        rng = random.Random(seed)
        params = LoopParams(rng.choice([1, 2, 5, 25]), rng.randint(1, 3), credits=rng.randint(1, 9))
        target = Loopback(params)
        line = BadLine(LinkDevice(target, params.hello).receive, rng, 0.3)
        traffic = Traffic(line, params, rng, target.move)
        traffic.play(30)
        traffic.finish()
        faults = {name: faults[name] + line.faults[name] for name in FAULTS}
    assert min(faults.values()) > 0


def test_hosts_begin_with_sequences_of_their_own():
    """A late reply to a host before is none to this one, whose request may have been lost."""
    sent: list[bytes] = []
    for _ in range(50):
        with pytest.raises(TimeoutError, match="no answer in 2 tries"):
            LinkHost(sent.append, lambda: b"", 2).exchange(Kind.HELLO)
    assert len({frame.sequence for frame in Decoder().feed(b"".join(sent))}) > 45


def test_requests_that_come_back_are_no_replies():
    """A plug that joins both lines."""
    echo: list[bytes] = []
    host = LinkHost(echo.append, lambda: echo.pop(0) if echo else b"", 3)
    with pytest.raises(TimeoutError):
        host.exchange(Kind.HELLO)


def test_endless_noise_is_no_reply():
    host = LinkHost(lambda _: None, lambda: encode(Frame(0, REPLY)), 3)
    host._sequence = 7
    with pytest.raises(TimeoutError):
        host.exchange(Kind.HELLO)
