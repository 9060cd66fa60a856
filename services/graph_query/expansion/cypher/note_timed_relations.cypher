// Records that some relation of the space begins or ends, so what is valid can change without a write.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.timed_relations = true
