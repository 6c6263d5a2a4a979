"""What a statement does to those before it."""
