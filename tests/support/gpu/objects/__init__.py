"""A program that races on every kind of object, for their names."""
