"""Learning: what was said becomes what is known; sessions and their episodes."""
