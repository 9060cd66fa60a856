// The space's state for a search, and the entities that its filter names.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
OPTIONAL MATCH (k:EntityName {group_id: $p.space, name_key: $p.entity_key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
RETURN coalesce(s.revision, 0) AS revision, coalesce(s.vectors, 0) AS vectors, coalesce(s.embedding_model, '') AS model,
       coalesce(s.embedding_dimension, 0) AS dimension, collect(k.entity_uuid) AS only
