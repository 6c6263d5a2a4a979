"""Parse questions, score and rank hits, and pack them into a prompt."""
