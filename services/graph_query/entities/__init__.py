"""Entities: neighborhoods, listings, names in text, paths, and chunks around shared entities."""
