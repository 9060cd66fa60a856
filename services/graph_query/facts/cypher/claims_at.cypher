// Returns the claims of the given entities' facts, with the current ends and the interval of each fact as first
// given.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
WITH DISTINCT e
MATCH (c:FactClaim {fact_uuid: e.uuid, group_id: $p.space}) USING INDEX SEEK c:FactClaim(fact_uuid)
RETURN e.uuid AS uuid, startNode(e).uuid AS source, endNode(e).uuid AS target, e.name AS relation,
       coalesce(e.given_from, e.valid_from) AS valid_from, coalesce(e.given_until, e.stated_until, e.valid_until) AS valid_until,
       e.origin AS origin, coalesce(e.given_fact, e.fact) AS fact, e.given_from IS NOT NULL AS corrected,
       [e.valid_from, coalesce(e.stated_until, e.valid_until), e.fact] AS state, c.document_id AS document_id, c.given AS given, e.fact_embedding IS NOT NULL AS embedded
