"""Fold, tokenize and split text; tell prose from quotations, code, logs and tables."""
