"""Adapters for the libraries of others. Each is imported by its own name, and needs that library."""
