"""Writing: turns, statements, and what changes or retracts them."""
