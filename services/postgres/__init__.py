"""PostgreSQL access shared by all services with a database: a bounded pool and numbered migrations."""
