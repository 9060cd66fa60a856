-- Moves some vectors of a large space into the index; returns how many.
select index_vectors($1, $2)
