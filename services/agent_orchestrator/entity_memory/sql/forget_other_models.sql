-- Removes the vectors of a space that are of another model.
delete from memory_entity_vector where space = $1 and model <> $2
