// Sets facts' vectors.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', row.vector)
