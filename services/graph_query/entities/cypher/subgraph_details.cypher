// Returns documents and titles of some chunks, and the sentences in which they name entities.
CYPHER 25
UNWIND $p.episodes AS uuid
MATCH (o:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK o:Episodic(group_id, uuid)
MATCH (b:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK b:BraidPassage(group_id, uuid)
CALL (o) {
  MATCH (o)-[m:BRAID_MENTIONS]->(n)
  RETURN collect([n.uuid, m.sentences]) AS named
}
RETURN uuid, b.document_id AS document_id, b.title AS title, named
