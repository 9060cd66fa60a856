-- Stores an entity's vector of a model.
insert into memory_entity_vector (space, user_id, model, entity_id, embedding) values ($1, $2, $3, $4, $5::text::halfvec)
on conflict (space, user_id, model, entity_id) do update set embedding = excluded.embedding
