"""Parts of several commands; no command itself."""
