// Returns all spellings of the given entities whose displayed spelling has no source any more; with `all`, of
// every one.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
WHERE $p.all OR NOT (
  EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.name = n.name AND CASE m.kind WHEN $p.about THEN 0 ELSE 2 END = n.name_source }
  OR n.name_source = 1 AND (
    EXISTS { (n)<-[m:MENTIONS]-() WHERE m.name = n.name }
    OR EXISTS { MATCH (n)-[e:RELATES_TO]->() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE any(g IN c.given WHERE split(g, '\t')[1] = n.name) }
    OR EXISTS { MATCH (n)<-[e:RELATES_TO]-() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE any(g IN c.given WHERE split(g, '\t')[3] = n.name) }))
RETURN uuid,
  COLLECT { MATCH (n)<-[m:BRAID_MENTIONS]-() RETURN DISTINCT [CASE m.kind WHEN $p.about THEN 0 ELSE 2 END, m.name] } AS written,
  COLLECT { MATCH (n)-[e:RELATES_TO]->() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) UNWIND c.given AS g RETURN DISTINCT split(g, '\t')[1] }
    + COLLECT { MATCH (n)<-[e:RELATES_TO]-() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) UNWIND c.given AS g RETURN DISTINCT split(g, '\t')[3] }
    + COLLECT { MATCH (n)<-[m:MENTIONS]-() RETURN DISTINCT m.name } AS stated
