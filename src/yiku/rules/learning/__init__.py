"""Learn statements from turns, by rules and by a model."""
