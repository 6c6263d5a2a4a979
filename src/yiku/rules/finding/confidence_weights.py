"""Weights of the score in rules/finding/confidence.py, written by scripts/fit_confidence.py; do not edit."""

WITH_VECTORS: dict[str, float] = {"sure": -2.199, "near": 5.295, "nearer": 0.176}
