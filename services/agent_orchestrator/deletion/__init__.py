"""Removes documents from both stores: accepted first, then done step by step, whatever goes down meanwhile."""
