-- Typed memories. Each is its user's alone; its words and its vector are in the vector tier, its relations in the graph.
create table memory (
  space text not null,
  user_id text not null,
  id uuid not null,
  document_id uuid not null,
  type text not null,
  title text not null,
  content text not null,
  tags text[] not null,
  importance double precision not null,
  metadata jsonb not null,
  session_id text not null,
  -- Both tiers have it. One without is being stored or removed, or that was interrupted.
  ready boolean not null default false,
  create_time timestamptz not null default clock_timestamp(),
  access_count bigint not null default 0,
  last_access_time timestamptz,
  primary key (space, user_id, id)
);
create index memory_listing on memory (space, user_id, create_time desc, id desc);
create index memory_of_session on memory (space, user_id, session_id, create_time desc) where session_id <> '';
create index memory_unready on memory (create_time) where not ready;

-- Sessions that are closed, and the memory that sums each up.
create table closed_session (
  space text not null,
  user_id text not null,
  session_id text not null,
  summary_id uuid not null,
  primary key (space, user_id, session_id)
);

-- Types that a space has chosen instead of the default ones.
create table memory_type (
  space text not null,
  name text not null,
  primary key (space, name)
);

-- How often two memories were found together; the weight halves with time.
create table memory_co_access (
  space text not null,
  user_id text not null,
  first_id uuid not null,
  second_id uuid not null check (first_id < second_id),
  weight double precision not null,
  update_time timestamptz not null,
  primary key (space, user_id, first_id, second_id),
  foreign key (space, user_id, first_id) references memory on delete cascade,
  foreign key (space, user_id, second_id) references memory on delete cascade
);
create index memory_co_access_second on memory_co_access (space, user_id, second_id);

-- Relations that the user has removed: they are not inferred again.
create table removed_memory_relation (
  space text not null,
  user_id text not null,
  source_id uuid not null,
  target_id uuid not null,
  type text not null,
  primary key (space, user_id, source_id, target_id, type),
  foreign key (space, user_id, source_id) references memory on delete cascade,
  foreign key (space, user_id, target_id) references memory on delete cascade
);
create index removed_memory_relation_target on removed_memory_relation (space, user_id, target_id);
