-- Returns how many vectors of a large space are not in the index yet, counted up to a maximum.
select unindexed_count($1, $2)
