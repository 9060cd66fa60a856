"""Writing given facts: their entities, claims, ends and versions."""
