"""Mask secrets and <private> text, fence and quote recalled text, redact erased statements, validate scope names."""
