"""The domain of the graph tier: passages, entities, facts, times and names, without store, contract or model."""
