"""The night: maintenance of a memory in phases, each change recorded with its reason and undoable."""
