"""Flows: one module for each verb of the API, a sequence of steps over rules, store, models and files."""
