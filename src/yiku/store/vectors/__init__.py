"""Storage and search of embedding vectors of turns, statements and notes, large scopes prefiltered by sign bits."""
