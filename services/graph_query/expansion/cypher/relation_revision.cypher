// The space's revision.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN coalesce(s.revision, 0) AS revision
