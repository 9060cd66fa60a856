-- The highest revision of each space's graph that a write has been answered with: a graph of a lower one was restored from
-- a backup.
create table seen_graph (
  space text primary key,
  revision bigint not null,
  update_time timestamptz not null default now()
);
