"""The vector file: vectors of turns and statements, indexed by sign bits."""
