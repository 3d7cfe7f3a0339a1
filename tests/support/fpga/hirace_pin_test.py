"""Test at the pins of HiRace's device: micro-benchmarks and random traces."""

from __future__ import annotations

from racetrap.fpga.hirace.self_test import random_trace
from tests.support.fpga.gpu_pins import pin_test_with

PIN_TEST = pin_test_with(random_trace)
