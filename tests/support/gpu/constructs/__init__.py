"""Suite of constructs: small kernels in pairs, race-free and racy, that differ by one construct."""
