// The listings of a space's facts by uuid, by start and by relation serve all that this index did.
DROP INDEX braid_fact_by_space IF EXISTS
