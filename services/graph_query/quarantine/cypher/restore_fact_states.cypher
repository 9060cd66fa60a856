// Sets the state of facts to a stored one. What depends on the present graph stays: their ends, citations and vectors.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
SET e = e {.episodes, .braid_ends, .source_node_uuid, .target_node_uuid, .fact_embedding, .next_model, .next_embedding}
SET e += row.state
