-- Replaces the types that a space has set.
with gone as (delete from memory_type where space = $1 and name <> all($2::text[]))
insert into memory_type (space, name) select $1, unnest($2::text[]) on conflict do nothing
