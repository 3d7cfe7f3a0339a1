"""Stress of kernels under weak memory: failures exposed, shrunk, replayed, and cured by fences."""
