"""Commands of `racetrap`: module ``a_b`` holds the command `racetrap a b`, named ``command``."""
