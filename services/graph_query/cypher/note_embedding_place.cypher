// Notes how far the change to another model is.
MATCH (s:BraidSpace {group_id: $p.space})
SET s['changed_' + $p.kind] = $p.place
