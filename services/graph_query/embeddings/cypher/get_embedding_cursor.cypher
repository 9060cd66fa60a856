// Returns the position of the change to another model, and the length of its vectors if known.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN s['changed_' + $p.kind] AS place, s.embedding_dimension AS dimension
