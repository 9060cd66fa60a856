"""The shape of the graph: entities by name, names in text, paths, and chunks around shared entities."""
