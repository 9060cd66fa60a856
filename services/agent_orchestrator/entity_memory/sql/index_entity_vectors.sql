-- Creates the index over vectors of a dimension where there is none.
select index_entity_vectors($1)
