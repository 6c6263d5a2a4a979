"""Embedding models, chat models and rerankers: clients for HTTP endpoints, and a local multilingual embedding model."""
