"""An in-memory graph store: the oracle with which Neo4j is compared, and a store for unit tests."""
