"""Kernels of clusters of several blocks, in pairs: race-free and racy."""
