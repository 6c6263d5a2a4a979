"""From a question to the order of its hits."""
