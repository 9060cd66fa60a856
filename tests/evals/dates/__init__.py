"""Dates in questions: labeled expressions, and how many are resolved correctly."""
