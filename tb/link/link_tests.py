"""Tests of links at their pins; the plan gives links, seed, amount of traffic and clock."""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from racetrap.golden_model.link.frames import Counters, Frame, Kind, Status, encode
from racetrap.sim.cosim.verilator.plan import note, read_plan
from racetrap.tb.link.faults import FAULTS
from racetrap.tb.link.host import Host
from racetrap.tb.link.line import Line
from racetrap.tb.link.loopback import LoopParams

_RESET_CYCLES = 4


async def _start(dut, baud_error: float = 0.0) -> list[Line]:
    """Clock, reset and lines of all links."""
    plan = read_plan()
    links = [LoopParams(**link) for link in plan["links"]]
    for number in range(len(links)):
        getattr(dut, f"i_rx__{number}").value = 1
        getattr(dut, f"i_open__{number}").value = 0
    Clock(dut.clk, plan["period_ps"], "ps").start()
    await _reset(dut)
    return [
        Line(dut, number, link, plan["period_ps"], baud_error) for number, link in enumerate(links)
    ]


async def _reset(dut) -> None:
    dut.rst.value = 1
    await ClockCycles(dut.clk, _RESET_CYCLES)
    dut.rst.value = 0
    await ClockCycles(dut.clk, _RESET_CYCLES)


def _rng(name: str, number: int) -> random.Random:
    return random.Random(f"{read_plan()['seed']} {name} {number}")


async def _session(line: Line, rng: random.Random, requests: int, fault_rate: float) -> None:
    """Random requests on one line, and the account of them."""
    host = Host(line, rng, fault_rate)
    await host.hello()
    for _ in range(requests):
        await host.random_request()
    await host.drain()
    # Counters of a repeated request are those of its first execution.
    host.fault_rate = 0.0
    counters = Counters.from_payload(await host.request(Kind.COUNTERS))
    assert counters == line.golden.counters
    note({
        "bits": line.params.bits, "compared": line.compared, "returned": host.returned,
        "repeats": host.repeats, "faults": host.faults, "counters": counters._asdict(),
    })  # fmt: skip


async def _sessions(dut, name: str, fault_rate: float, baud_error: float = 0.0) -> None:
    """A session on every line, all at the same time."""
    lines = await _start(dut, baud_error)
    requests = read_plan()["requests"]
    tasks = [
        cocotb.start_soon(_session(line, _rng(name, number), requests, fault_rate))
        for number, line in enumerate(lines)
    ]
    for task in tasks:
        await task


@cocotb.test()
async def clean_line(dut):
    await _sessions(dut, "clean", 0.0)


@cocotb.test()
async def bad_line(dut):
    await _sessions(dut, "bad", 0.3)


@cocotb.test()
async def fast_host(dut):
    await _sessions(dut, "fast", 0.0, 0.02)


@cocotb.test()
async def slow_host(dut):
    await _sessions(dut, "slow", 0.0, -0.02)


@cocotb.test()
async def every_byte_damaged(dut):
    """Each fault at each of many places of one request: it is executed once, at the repeat."""
    line, *_ = await _start(dut)
    rng = _rng("every byte", 0)
    host = Host(line, rng)
    await host.hello()
    for name, fault in FAULTS.items():
        for _ in range(read_plan()["requests"] // len(FAULTS) + 1):
            before = line.golden.counters
            request = encode(Frame(Kind.COUNTERS, rng.randrange(256)))
            await line.exchange(fault(request, rng))
            await host.hello()
            note({"fault": name, "counted": [
                key for key, value in line.golden.counters._asdict().items()
                if value > getattr(before, key)
            ]})  # fmt: skip
    counters = Counters.from_payload(await host.request(Kind.COUNTERS))
    assert counters == line.golden.counters


@cocotb.test()
async def before_hello(dut):
    """Nothing is executed until the versions are known to fit."""
    for line in await _start(dut):
        for sequence in (0, 1, 255):
            assert await line.exchange(encode(Frame(Kind.COUNTERS, sequence))) == []
        (reply,) = await line.exchange(encode(Frame(Kind.HELLO, 7, b"\x02")))
        assert reply.payload[0] == Status.BAD_REQUEST
        assert await line.exchange(encode(Frame(Kind.COUNTERS, 8))) == []
        (reply,) = await line.exchange(encode(Frame(Kind.HELLO, 255, b"\x01")))
        assert reply.payload[0] == Status.OK
        (reply,) = await line.exchange(encode(Frame(Kind.COUNTERS, 0)))
        assert Counters.from_payload(reply.payload).gaps == 4


@cocotb.test()
async def break_and_noise(dut):
    """A break of any length is one framing error; a spike is nothing."""
    for line in await _start(dut):
        host = Host(line, _rng("break", 0))
        await host.hello()
        for bits in (10, 10.5, 35, 1000):
            await line.pull_low(bits)
            line.golden.framing_error()
            await host.pull(0)
        for bits in (0.1, 0.3):
            await line.pull_low(bits)
            await host.pull(0)
        counters = Counters.from_payload(await host.request(Kind.COUNTERS))
        assert counters == line.golden.counters
        assert counters.uart_framing == 4


@cocotb.test()
async def reset_in_mid_frame(dut):
    """A reset loses what the link held; the host is told by silence, then by HELLO."""
    line, *_ = await _start(dut)
    rng = _rng("reset", 0)
    push = encode(Frame(Kind.PUSH, 1, bytes(5)))
    for _ in range(read_plan()["requests"] // 10 + 2):
        host = Host(line, rng)
        await host.hello()
        await host.push()
        await line.exchange(push[: rng.randrange(1, len(push))])
        await line.bits(rng.random() * 12)
        await _reset(dut)
        await line.bits(12)
        line.sink.clear()
        line.restart()
        assert await line.exchange(push) == []
        assert int(line.link_up.value) == 0
    host = Host(line, rng)
    await host.hello()
    await host.push()
    await host.drain()


@cocotb.test()
async def overrun(dut):
    """Requests without waiting for replies: what is answered was executed, once and in order."""
    line, *_ = await _start(dut)
    host = Host(line, _rng("overrun", 0))
    await host.hello()
    (hello,) = await line.exchange(encode(Frame(Kind.HELLO, 0, b"\x01")))
    frames = [Frame(Kind.COUNTERS, sequence) for sequence in range(1, 40)]
    done = 0
    while done < len(frames):
        await line.source.write(b"".join(encode(frame) for frame in frames[done:]))
        received = await line.collect_all()
        sequences = [reply.sequence for reply in received]
        assert sequences == [frame.sequence for frame in frames[done : done + len(sequences)]]
        assert sequences
        done += len(sequences)
    *_, last = received
    counters = Counters.from_payload(last.payload)
    assert counters.uart_overrun > 0
    assert counters.frames == counters.gaps + counters.duplicates + done + 2
    note({"overrun": counters._asdict(), "version": hello.payload[1]})
