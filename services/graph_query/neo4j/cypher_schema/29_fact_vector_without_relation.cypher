// The index before this one had no relation in its filter.
DROP INDEX braid_fact_vector IF EXISTS
