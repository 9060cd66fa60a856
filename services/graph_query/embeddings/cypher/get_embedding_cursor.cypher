// How far the change to another model is, and how long its vectors are where that is known.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN s['changed_' + $p.kind] AS place, s.embedding_dimension AS dimension
