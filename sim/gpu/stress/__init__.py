"""Stress of kernels by weak memory: failures exposed, shrunk, replayed, and cured by fences."""
