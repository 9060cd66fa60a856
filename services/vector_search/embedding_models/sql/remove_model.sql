-- Removes a space's vectors of a model; returns how many, null if it is the space's own.
select remove_model($2, $1)
