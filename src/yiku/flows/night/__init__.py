"""The night: memory tidies itself, writes down what it did and why, and can take it back."""
