-- Removes a space's vectors of a model: how many, null when it is the space's own.
select remove_model($2, $1)
