"""The graph tier: entities and dated facts in Neo4j.

Each named query states its index (`USING INDEX SEEK`). Without the hint, a plan made while the graph is small scans the
whole index for each row, and Neo4j keeps that plan after the graph has grown.
"""
