"""SimpleMemory (document S1): a memory of statements found by their tags, by its own names."""
