"""Search: recall, context, browsing, and embeddings."""
