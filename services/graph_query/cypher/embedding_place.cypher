// How far the change to another model is.
MATCH (s:BraidSpace {group_id: $p.space})
RETURN s['changed_' + $p.kind] AS place
