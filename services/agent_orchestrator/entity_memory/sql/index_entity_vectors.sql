-- Creates the index for vectors of a dimension if it does not exist.
select index_entity_vectors($1)
