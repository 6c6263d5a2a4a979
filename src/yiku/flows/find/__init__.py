"""Finding: recall, context, browsing, and the vectors that it needs."""
