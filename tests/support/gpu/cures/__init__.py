"""Suite of cures: small CUDA programs that lack one barrier, fence or scope, and right ones."""
