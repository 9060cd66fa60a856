"""The graph in memory: an oracle that Neo4j is compared with, and a store for unit tests."""
