"""Weights of the confidence in rules/finding/fuse.py, written by scripts/fit_confidence.py; do not edit."""

WITH_VECTORS: dict[str, float] = {"sure": -2.013, "near": 5.106, "rows": -1.175, "stands out": 3.18}
