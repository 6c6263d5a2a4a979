"""Numbers, amounts, dates and names as values, and the times in questions."""
