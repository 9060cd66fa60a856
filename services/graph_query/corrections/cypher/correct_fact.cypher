// Corrects a fact in place. The values as first given stay with it: they identify it when it is stated again.
MATCH ()-[e:RELATES_TO {uuid: $p.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
SET e.given_from = coalesce(e.given_from, e.valid_from), e.given_until = coalesce(e.given_until, e.stated_until, e.valid_until),
    e.given_fact = coalesce(e.given_fact, e.fact)
FOREACH (name IN coalesce(e.attribute_names, []) | SET e[name] = null)
SET e += $p.attributes
SET e.attribute_names = $p.attribute_names, e.fact = $p.fact, e.braid_words = $p.words, e.valid_at = $p.valid_at, e.valid_from = $p.valid_from,
    e.braid_known_from = $p.known, e.braid_cause = coalesce($p.episode, head(e.episodes))
FOREACH (_ IN CASE WHEN $p.ends THEN [1] ELSE [] END |
  SET e.invalid_at = $p.invalid_at, e.valid_until = $p.valid_until, e.stated_at = null, e.stated_until = null, e.expired_at = null, e.braid_ended_by = null)
FOREACH (_ IN CASE WHEN $p.embeds THEN [1] ELSE [] END | REMOVE e.fact_embedding, e.next_embedding, e.next_model)
