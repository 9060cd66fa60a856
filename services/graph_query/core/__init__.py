"""What the graph tier is about: passages, entities, facts, times and names. No store, no contract, no model."""
