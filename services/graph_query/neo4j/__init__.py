"""Neo4j access that all features share: the database, its schema, writes to a space, row mapping and plan warm-up."""
