-- Deletes the vectors of a space that are of other models.
delete from memory_entity_vector where space = $1 and model <> $2
