"""Rules of the night: what is said twice, what contradicts what, what supports a belief, what a summary may say."""
