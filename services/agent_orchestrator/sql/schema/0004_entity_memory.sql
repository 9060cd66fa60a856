-- Entity memory: what each user talks about, and how it relates. Each row is its user's alone.
-- The extension needs a superuser where it is not there yet.
create extension if not exists vector;

create table memory_entity (
  space text not null,
  user_id text not null,
  id uuid not null,
  name text not null check (char_length(name) between 1 and 200),
  -- NFC, case-folded, white space collapsed: the entity's identity together with its type.
  canonical_name text not null check (canonical_name <> ''),
  -- `self` is the user: the source of first-person statements, neither listed nor counted.
  type text not null check (type in ('person', 'project', 'tool', 'concept', 'organization', 'self')),
  aliases text[] not null default '{}',
  canonical_aliases text[] not null default '{}',
  description text not null default '' check (char_length(description) <= 2000),
  confidence double precision not null check (confidence between 0 and 1),
  mention_count integer not null default 1 check (mention_count > 0),
  -- Bare ids: they stay when the conversation is deleted.
  first_conversation_id text not null default '',
  first_message_id text not null default '',
  last_conversation_id text not null default '',
  last_message_id text not null default '',
  create_time timestamptz not null default now(),
  last_mention_time timestamptz not null default now(),
  delete_time timestamptz,
  merged_into uuid,
  primary key (space, user_id, id)
);
create unique index memory_entity_name on memory_entity (space, user_id, canonical_name, type) where delete_time is null;
create unique index memory_entity_self on memory_entity (space, user_id) where type = 'self';
create index memory_entity_listing on memory_entity (space, user_id, last_mention_time desc, id desc) where delete_time is null;
create index memory_entity_conversation on memory_entity (space, user_id, first_conversation_id);
create index memory_entity_day on memory_entity (space, user_id, create_time);

create table memory_relationship (
  space text not null,
  user_id text not null,
  id uuid not null,
  source_id uuid not null,
  type text not null check (type in ('USES', 'PREFERS', 'DECIDED', 'WORKS_ON', 'WORKS_WITH', 'KNOWS', 'DEPENDS_ON',
    'MENTIONED_IN', 'PART_OF')),
  target_id uuid not null,
  context text not null default '' check (char_length(context) <= 2000),
  confidence double precision not null check (confidence between 0 and 1),
  mention_count integer not null default 1 check (mention_count > 0),
  first_conversation_id text not null default '',
  first_message_id text not null default '',
  last_conversation_id text not null default '',
  last_message_id text not null default '',
  create_time timestamptz not null default now(),
  last_mention_time timestamptz not null default now(),
  delete_time timestamptz,
  primary key (space, user_id, id),
  check (source_id <> target_id),
  foreign key (space, user_id, source_id) references memory_entity on delete cascade,
  foreign key (space, user_id, target_id) references memory_entity on delete cascade
);
create unique index memory_relationship_ends on memory_relationship (space, user_id, source_id, type, target_id)
  where delete_time is null;
create index memory_relationship_target on memory_relationship (space, user_id, target_id);
create index memory_relationship_listing on memory_relationship (space, user_id, last_mention_time desc, id desc)
  where delete_time is null;
create index memory_relationship_conversation on memory_relationship (space, user_id, first_conversation_id);

-- Vectors of entities by model. A search reads one user's alone, all of them, so it is exact and needs no approximate index;
-- while a space moves to another model, vectors of both are there.
create table memory_entity_vector (
  space text not null,
  user_id text not null,
  model text not null,
  entity_id uuid not null,
  embedding halfvec not null,
  primary key (space, user_id, model, entity_id),
  foreign key (space, user_id, entity_id) references memory_entity on delete cascade
);

-- Writes that wait to be worked off, and for some time those that were: a write of the same key is recorded once.
create table memory_write (
  number bigint generated always as identity primary key,
  space text not null,
  user_id text not null,
  key text not null,
  kind text not null check (kind in ('turn', 'entity', 'relationship')),
  conversation_id text not null default '',
  message_id text not null default '',
  -- Null once it was worked off.
  payload jsonb,
  create_time timestamptz not null default now(),
  due_time timestamptz not null default now(),
  lease_time timestamptz,
  attempt_count integer not null default 0,
  end_time timestamptz,
  failure text not null default '',
  unique (space, user_id, key)
);
create index memory_write_due on memory_write (number) where end_time is null;
create index memory_write_of_user on memory_write (space, user_id, number) where end_time is null;
create index memory_write_ended on memory_write (end_time) where end_time is not null;

-- A second wall behind the conditions of each query: a transaction sees the user that it has named, and nothing without naming one.
-- `braid.memory_scope` is `space` for the move to another embedding model, and `queue` for the worker that looks for work.
alter table memory_entity enable row level security;
alter table memory_entity force row level security;
create policy memory_entity_owner on memory_entity using (
  space = current_setting('braid.space', true)
  and (user_id = current_setting('braid.user', true) or current_setting('braid.memory_scope', true) = 'space'));
alter table memory_relationship enable row level security;
alter table memory_relationship force row level security;
create policy memory_relationship_owner on memory_relationship using (
  space = current_setting('braid.space', true) and user_id = current_setting('braid.user', true));
alter table memory_entity_vector enable row level security;
alter table memory_entity_vector force row level security;
create policy memory_entity_vector_owner on memory_entity_vector using (
  space = current_setting('braid.space', true)
  and (user_id = current_setting('braid.user', true) or current_setting('braid.memory_scope', true) = 'space'));
alter table memory_write enable row level security;
alter table memory_write force row level security;
create policy memory_write_owner on memory_write using (
  current_setting('braid.memory_scope', true) = 'queue'
  or space = current_setting('braid.space', true) and user_id = current_setting('braid.user', true));
