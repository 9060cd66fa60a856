"""The graph tier: entities and dated facts in Neo4j."""
