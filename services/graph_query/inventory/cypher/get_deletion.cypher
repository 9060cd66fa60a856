// Returns what a deletion has removed so far, and whether it has ended.
MATCH (d:BraidDeletion {group_id: $p.space, id: $p.id}) USING INDEX SEEK d:BraidDeletion(group_id, id)
RETURN d.ended AS ended, properties(d) AS counts
