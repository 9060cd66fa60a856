"""The graph tier: entities and dated facts in Neo4j.

Each named query says which index a key is looked up in (`USING INDEX SEEK`): left to itself, Neo4j reads the whole
index for each row where it plans a query while the graph is young, and keeps that plan when the graph has grown.
"""
