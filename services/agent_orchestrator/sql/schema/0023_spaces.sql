-- Spaces have a title, a time of their creation, and a maximum number of documents (null: no limit).
alter table space_setting add column title text not null default '';
alter table space_setting add column create_time timestamptz not null default now();
alter table space_setting add column max_documents bigint check (max_documents > 0);

-- The next space after one, in which something is remembered of users: for the list of spaces, which belongs to no space.
create function next_memory_space(p_after text) returns text
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  scope text := coalesce(current_setting('braid.memory_scope', true), '');
  found text;
begin
  perform set_config('braid.memory_scope', 'schema', true);
  select min(space) into found from memory_entity where space > p_after and type <> 'self' and delete_time is null;
  perform set_config('braid.memory_scope', scope, true);
  return found;
end $$;
