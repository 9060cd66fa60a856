// Sets facts' vectors.
UNWIND $rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->()
CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', row.vector)
