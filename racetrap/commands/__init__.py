"""Sub-commands of `racetrap`: each module holds one click command named ``command``."""
