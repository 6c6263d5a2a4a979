"""Mask secrets, keep private parts out, fence recalled text, plan erasure; scope names."""
