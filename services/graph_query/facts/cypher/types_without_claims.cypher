// Returns the given types of entities that no claim and no episode states any more.
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
WHERE NOT EXISTS { MATCH (n)-[e:RELATES_TO]->() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE any(g IN c.given WHERE split(g, '\t')[0] = row[2]) }
  AND NOT EXISTS { MATCH (n)<-[e:RELATES_TO]-() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE any(g IN c.given WHERE split(g, '\t')[2] = row[2]) }
  AND NOT EXISTS { (n)<-[m:MENTIONS]-() WHERE m.type = row[2] }
RETURN row[1] AS key, row[2] AS type
