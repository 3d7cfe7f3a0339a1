"""The cure of a race: the edit of the sources that ends it, found by trying."""
