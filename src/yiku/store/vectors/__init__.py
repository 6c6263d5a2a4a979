"""Vectors of turns and statements, in a file of their own: kept, indexed by their signs, compared."""
