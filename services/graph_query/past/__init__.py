"""Searches for facts as they were known at an instant."""
