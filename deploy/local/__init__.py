"""The local stack: real PostgreSQL, real Neo4j and Braid's processes, without Docker, root or a key."""
