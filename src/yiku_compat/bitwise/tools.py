"""Tools that the system shows a model, by its own names."""
