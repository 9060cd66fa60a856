"""PostgreSQL as every service with a database of its own uses it: a bounded pool, and numbered migrations."""
