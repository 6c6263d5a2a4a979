"""What a sentence states: read once into clauses (read.py), with subject, mood, time, values and slot."""
