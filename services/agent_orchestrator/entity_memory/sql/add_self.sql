-- Adds the user's own entity.
insert into memory_entity (space, user_id, id, name, canonical_name, type, confidence)
values ($1, $2, $3, 'User', 'user', 'self', 1)
