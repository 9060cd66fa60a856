// Returns how many chunks of the space the graph has, and how many relations of each type start at them.
CALL () {
  MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= ''
  RETURN count(p) AS chunks
}
CALL () {
  MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= ''
  MATCH (n:Episodic {group_id: $p.space, uuid: p.uuid}) USING INDEX SEEK n:Episodic(group_id, uuid)
  MATCH (n)-[r:BRAID_RELATION]->(:Episodic)
  WITH r.type AS type, count(r) AS number
  RETURN collect([type, number]) AS counts
}
RETURN chunks, counts
