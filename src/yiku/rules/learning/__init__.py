"""What a turn of a person teaches by rules alone, and what is asked of a model."""
