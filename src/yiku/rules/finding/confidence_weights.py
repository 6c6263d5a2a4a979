"""Weights of the confidence in rules/finding/fuse.py, written by scripts/fit_confidence.py; do not edit."""

WITH_VECTORS: dict[str, float] = {"sure": -2.118, "near": 3.136, "nearer": 0.308}
