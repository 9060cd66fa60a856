-- How many vectors of a large space wait outside of the index, counted up to a bound.
select waiting_vectors($1, $2)
