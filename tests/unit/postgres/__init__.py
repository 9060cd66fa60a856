"""Tests of the PostgreSQL helpers without a database."""
