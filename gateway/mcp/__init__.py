"""The Model Context Protocol: Braid's tools, documents, entities and prompts for assistants."""
