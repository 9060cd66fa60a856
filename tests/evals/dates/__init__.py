"""Dates in questions: labelled expressions and their accuracy."""
