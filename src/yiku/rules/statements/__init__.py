"""Parse text into clauses with subject, mood, tense, values and slots; parse what questions ask for."""
