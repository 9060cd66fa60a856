-- What named deletions removed, so that one that is sent again after a crash can answer; and writes that wait for a model.
create table deletion (
  space text collate "C" not null,
  deletion_id uuid not null,
  versions integer not null,
  chunks integer not null,
  deleted_at timestamptz not null default now(),
  primary key (space, deletion_id)
);
create index deletion_age on deletion (space, deleted_at);

-- Until when writes that would store chunks wait, so that vectors of a model that is being added catch up with them.
alter table space_stats add column writes_held_until timestamptz not null default '-infinity';

-- Waits for running writes: they hold the space's lock shared, and look at the time only once they have it.
create function hold_writes(p_space text, p_seconds integer) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  update space_stats set writes_held_until = clock_timestamp() + make_interval(secs => p_seconds) where space = p_space;
end $$;

-- As before, and writes go on at once.
create or replace function activate_model(p_model smallint, p_space text) returns bigint
language plpgsql as $$
declare
  former smallint;
  raised bigint;
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  select s.model_id, s.revision into former, raised from space_stats s where s.space = p_space for update;
  if former = p_model then
    return raised;
  end if;
  if exists (select from unembedded_chunks(p_model, p_space, null, 1)) then
    return null;
  end if;
  insert into space_model (space, model_id) values (p_space, former) on conflict do nothing;
  delete from space_model m where m.space = p_space and m.model_id = p_model;
  update space_stats s set model_id = p_model, revision = s.revision + 1, writes_held_until = '-infinity'
  where s.space = p_space returning s.revision into raised;
  return raised;
end $$;
