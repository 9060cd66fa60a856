"""Compares a space's data in both stores, and repairs differences."""
