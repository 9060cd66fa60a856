// Lets what identified a fact identify another one.
MATCH (x:BraidFactAlias {fact_uuid: $p.uuid}) USING INDEX SEEK x:BraidFactAlias(fact_uuid) WHERE x.group_id = $p.space
SET x.fact_uuid = $p.to
