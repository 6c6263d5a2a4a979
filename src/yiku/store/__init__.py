"""SQLite storage: rows, full-text index, vectors, erasure, backup, checks and repair; import only store/api.py."""
