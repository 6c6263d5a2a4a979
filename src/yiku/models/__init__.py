"""Embedding and chat models: HTTP endpoints, and a local model for English and Chinese, or for all its languages."""
