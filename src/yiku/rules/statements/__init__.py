"""The reader: sentences to clauses (read.py) with subject, mood, tense, values and slots."""
