// Returns episodes with everything that is recorded of them and that extraction by rules does not give again.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
RETURN uuid, properties(e) AS episode, p {.document_id, .title, .starts, .own_start, .read} AS passage,
  COLLECT { MATCH (e)-[m:MENTIONS]->(n:Entity) WITH m, n ORDER BY n.uuid 
    RETURN [properties(m), n.name_embedding, n.name, coalesce([l IN labels(n) WHERE l <> 'Entity'][0], ''), n.braid_types, n.braid_types_until] } AS descriptions,
  COLLECT { MATCH (e)-[r:BRAID_RELATION]-(o:Episodic) RETURN [startNode(r).uuid, endNode(r).uuid, properties(r)] } AS relations,
  COLLECT { MATCH (s:BraidSource {group_id: $p.space, uuid: uuid})<-[:FROM]-(f:BraidFinding) USING INDEX SEEK s:BraidSource(group_id, uuid)
    RETURN f.uuid } AS findings,
  COLLECT { MATCH (x:FactEnding {group_id: $p.space, cause: uuid}) USING INDEX SEEK x:FactEnding(group_id, cause, fact_uuid) WHERE x.fact_uuid >= ''
    RETURN [x.fact_uuid, x.at] } AS endings
