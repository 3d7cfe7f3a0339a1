"""Parts of the documentation's pages that are made from the code and from runs."""
