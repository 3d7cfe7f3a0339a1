"""Kernels that log their own accesses, on a GPU."""
