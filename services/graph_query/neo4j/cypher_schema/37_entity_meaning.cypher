// Described entities by their names' similarity, with the space inside the filter; a vector is compared with those of its length.
CYPHER 25 CREATE VECTOR INDEX braid_entity_meaning IF NOT EXISTS FOR (n:Entity) ON n.name_embedding
WITH [n.group_id] OPTIONS $options
