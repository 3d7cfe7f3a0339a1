"""System clock and reset of a board: PLL, and a reset that outlasts its start.

Ref: Lattice FPGA-TN-02200 (ECP5 sysCLOCK PLL); FPGA-TN-02052 (iCE40 sysCLOCK PLL).
"""

from __future__ import annotations

from fractions import Fraction

from amaranth.hdl import (
    ClockDomain,
    ClockSignal,
    Const,
    Elaboratable,
    Instance,
    Module,
    ResetSignal,
    Signal,
)
from amaranth.lib import io
from amaranth.lib.cdc import FFSynchronizer

from racetrap.fpga.boards.pll import ecp5_pll, ice40_pll

#: Cycles of reset after lock.  An iCE40's block RAM reads as zero for some microseconds after
#: configuration: at 48 MHz this is 21 us.
RESET_CYCLES = 1024


class SystemClock(Elaboratable):
    """Drives the domain ``sync``, which the parent defines, from the board's default clock.

    The reset is asserted from configuration on until the PLL has been locked for
    ``RESET_CYCLES`` cycles, again whenever the lock is lost or the board's reset button is
    pressed, and leaves synchronously to the clock.

    Parameters
    ----------
    family : str
        ``ecp5`` or ``ice40``.
    clock_mhz : float
        Frequency of the domain; one that the PLL makes exactly.
    """

    def __init__(self, family: str, clock_mhz: float):
        self._make = {"ecp5": _ecp5, "ice40": _ice40}[family]
        self._clock_mhz = Fraction(str(clock_mhz))

    def elaborate(self, platform):
        m = Module()
        pin = platform.request(platform.default_clk, dir="-")
        m.submodules.clock_buffer = buffer = io.Buffer("i", pin)
        input_mhz = Fraction(platform.default_clk_frequency) / 1_000_000
        clock, locked = Signal(), Signal()
        m.submodules.pll = self._make(input_mhz, self._clock_mhz, buffer.i, clock, locked)
        # No constraint: nextpnr derives the clock's from the pin's and the PLL's dividers.

        m.domains.start = start = ClockDomain("start", reset_less=True, local=True)
        m.d.comb += [start.clk.eq(clock), ClockSignal("sync").eq(clock)]
        steady = Signal()
        held = Signal(range(RESET_CYCLES + 1))
        released = Signal()
        m.submodules.locked = FFSynchronizer(
            locked & ~self._pressed(m, platform), steady, o_domain="start"
        )
        with m.If(~steady):
            m.d.start += held.eq(0)
        with m.Elif(held != RESET_CYCLES):
            m.d.start += held.eq(held + 1)
        m.d.start += released.eq(steady & (held == RESET_CYCLES))
        m.d.comb += ResetSignal("sync").eq(~released)
        return m

    def _pressed(self, m: Module, platform):
        if platform.default_rst is None:
            return Const(0)
        pin = platform.request(platform.default_rst, dir="-")
        m.submodules.reset_buffer = buffer = io.Buffer("i", pin)
        return buffer.i


def _ecp5(input_mhz: Fraction, clock_mhz: Fraction, pin, clock: Signal, locked: Signal) -> Instance:
    pll = ecp5_pll(input_mhz, clock_mhz)
    feedback = Signal()
    return Instance(
        "EHXPLLL",
        # Loop filter as set by the vendor's tool for all frequencies.
        a_ICP_CURRENT="12", a_LPF_RESISTOR="8",
        a_MFG_ENABLE_FILTEROPAMP="1", a_MFG_GMCREF_SEL="2",
        p_FEEDBK_PATH="CLKOP",
        p_CLKI_DIV=pll.reference, p_CLKFB_DIV=pll.feedback,
        p_CLKOP_ENABLE="ENABLED", p_CLKOP_DIV=pll.primary,
        p_CLKOP_CPHASE=pll.primary - 1, p_CLKOP_FPHASE=0,
        p_CLKOS_ENABLE="ENABLED", p_CLKOS_DIV=pll.secondary,
        p_CLKOS_CPHASE=pll.secondary - 1, p_CLKOS_FPHASE=0,
        i_CLKI=pin, i_CLKFB=feedback, o_CLKOP=feedback, o_CLKOS=clock, o_LOCK=locked,
        i_RST=Const(0), i_STDBY=Const(0), i_PLLWAKESYNC=Const(0), i_ENCLKOP=Const(0),
        i_ENCLKOS=Const(0), i_PHASESEL0=Const(0), i_PHASESEL1=Const(0), i_PHASEDIR=Const(0),
        i_PHASESTEP=Const(0), i_PHASELOADREG=Const(0),
    )  # fmt: skip


def _ice40(
    input_mhz: Fraction, clock_mhz: Fraction, pin, clock: Signal, locked: Signal
) -> Instance:
    pll = ice40_pll(input_mhz, clock_mhz)
    return Instance(
        "SB_PLL40_CORE",
        p_FEEDBACK_PATH="SIMPLE",
        p_DIVR=Const(pll.divr, 4), p_DIVF=Const(pll.divf, 7), p_DIVQ=Const(pll.divq, 3),
        p_FILTER_RANGE=Const(pll.filter_range, 3),
        i_REFERENCECLK=pin, i_RESETB=Const(1), i_BYPASS=Const(0),
        o_PLLOUTGLOBAL=clock, o_LOCK=locked,
    )  # fmt: skip
