-- name: index_vectors
-- Moves some vectors of a large space into the index; returns how many.
select index_vectors($1, $2)

-- name: spaces_to_index
-- Large spaces with vectors that are not in the index yet. Like due_spaces, not limited to one space.
select distinct space from spaces_to_index() as s (space) order by space

-- name: unindexed_count
-- Returns how many vectors of a large space are not in the index yet, counted up to a maximum.
select unindexed_count($1, $2)
