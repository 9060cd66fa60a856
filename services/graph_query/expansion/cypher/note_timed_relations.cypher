// Notes that some relation of the space begins or ends: what holds now may not hold in a moment.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.timed_relations = true
