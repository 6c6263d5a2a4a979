"""Pure functions, without I/O or clock: parse text, learn and compare statements, rank hits, format prompts, pages."""
