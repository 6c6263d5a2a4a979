"""Markdown pages: how they are cut, what Yiku writes into them, and what people change there."""
