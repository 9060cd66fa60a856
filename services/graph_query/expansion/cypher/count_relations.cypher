// Returns how many chunks of the space the graph has, and how many relations of each type start at them.
CALL () {
  MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id) WHERE p.group_id = $p.space
  RETURN count(p) AS chunks
}
CALL () {
  MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id) WHERE p.group_id = $p.space
  MATCH (n:Episodic {uuid: p.uuid}) USING INDEX SEEK n:Episodic(uuid)
  MATCH (n)-[r:BRAID_RELATION]->(:Episodic)
  WITH r.type AS type, count(r) AS number
  RETURN collect([type, number]) AS counts
}
RETURN chunks, counts
