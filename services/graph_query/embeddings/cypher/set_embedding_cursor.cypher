// Stores the position of the change to another model.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s['changed_' + $p.kind] = $p.place
