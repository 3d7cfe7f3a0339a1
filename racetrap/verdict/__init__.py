"""What decides, groups and explains findings: of GPUs, threads and accelerators."""
