"""Measures how long other callers wait while adversarial texts go through every operation that takes text."""
