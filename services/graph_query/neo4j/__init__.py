"""What all features share of Neo4j: the database, its schema, writes to a space, rows and warm plans."""
