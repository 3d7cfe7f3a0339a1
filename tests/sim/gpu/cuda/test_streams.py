"""Order of operations by streams, events and waits of the host."""

import pytest

from racetrap.sim.gpu.cuda.streams import LEGACY, StreamError, Streams


@pytest.fixture
def streams():
    return Streams()


def test_streams_that_do_not_block_are_concurrent(streams):
    one, other = (streams.create_stream(non_blocking=True) for _ in range(2))
    assert [streams.issue(one), streams.issue(other), streams.issue(one)] == [(), (), ()]


def test_the_legacy_stream_waits_and_is_waited_for(streams):
    blocking, free = streams.create_stream(False), streams.create_stream(True)
    assert streams.issue(blocking) == ()
    assert streams.issue(free) == ()
    assert streams.issue(LEGACY) == (0,)
    assert streams.issue(blocking) == (2,)
    assert streams.issue(free) == ()


def test_an_event_stands_for_what_its_stream_had_been_given(streams):
    one, other = (streams.create_stream(True) for _ in range(2))
    event = streams.create_event()
    streams.issue(one)
    streams.record(event, one)
    streams.issue(one)
    streams.wait(other, event)
    assert streams.issue(other) == (0,)
    # It is known now, and need not be named again.
    assert streams.issue(other) == ()


def test_an_event_that_was_never_recorded_is_no_wait(streams):
    one, other = (streams.create_stream(True) for _ in range(2))
    streams.issue(one)
    streams.wait(other, streams.create_event())
    assert streams.issue(other) == ()


@pytest.mark.parametrize("how", ["stream", "event", "all", "nothing"])
def test_what_the_host_waits_for_comes_before_all_that_it_issues_then(streams, how):
    one, other = (streams.create_stream(True) for _ in range(2))
    event = streams.create_event()
    streams.issue(one)
    streams.record(event, one)
    if how == "stream":
        streams.host_waits_for_stream(one)
    elif how == "event":
        streams.host_waits_for_event(event)
    elif how == "all":
        streams.host_waits_for_all()
    assert streams.issue(other) == (() if how == "nothing" else (0,))


def test_only_the_last_operations_of_a_chain_are_named(streams):
    one, two, three = (streams.create_stream(True) for _ in range(3))
    event = streams.create_event()
    streams.issue(one)
    streams.record(event, one)
    streams.wait(two, event)
    streams.issue(two)
    streams.record(event, two)
    streams.wait(three, event)
    assert streams.issue(three) == (1,)


def test_the_legacy_stream_waits_for_a_stream_that_was_destroyed(streams):
    blocking = streams.create_stream(False)
    streams.issue(blocking)
    streams.destroy_stream(blocking)
    assert streams.issue(LEGACY) == (0,)


def test_what_is_not_there_is_refused(streams):
    calls = (
        lambda: streams.issue(5),
        lambda: streams.destroy_stream(LEGACY),
        lambda: streams.destroy_event(5),
        lambda: streams.record(5, LEGACY),
        lambda: streams.wait(LEGACY, 5),
        lambda: streams.host_waits_for_stream(5),
        lambda: streams.host_waits_for_event(5),
    )
    for call in calls:
        with pytest.raises(StreamError, match=r"was not created|cannot be destroyed"):
            call()
