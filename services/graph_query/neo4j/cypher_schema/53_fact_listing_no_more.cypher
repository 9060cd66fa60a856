// The listing by start serves what this index did; beside it, Neo4j read whole spaces for a page in time order.
DROP INDEX braid_fact_listing IF EXISTS
