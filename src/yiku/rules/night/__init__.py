"""What the night decides by: when a statement falls asleep, when it goes, and which of two is kept."""
