-- Conversations of users with the agent, and the runs that answer their questions.
create table conversation (
  id uuid primary key,
  space text not null,
  user_name text not null,
  title text not null default '',
  create_time timestamptz not null default now(),
  update_time timestamptz not null default now(),
  message_count integer not null default 0,
  -- What the turns up to message `summarized_through` were about, in a model's words.
  summary text not null default '',
  summarized_through integer not null default 0,
  -- The run that is answering, until its lease ends: two questions never interleave.
  active_run_id uuid,
  lease_expire_time timestamptz
);
create index conversation_list on conversation (space, user_name, update_time desc, id desc);

create table conversation_message (
  conversation_id uuid not null references conversation (id) on delete cascade,
  number integer not null,
  role text not null check (role in ('user', 'assistant')),
  text text not null,
  citations jsonb not null default '[]',
  run_id uuid,
  model text not null default '',
  ending text not null default '',
  create_time timestamptz not null default now(),
  primary key (conversation_id, number)
);

-- A run's lease is renewed while its process works on it; one that ends without `end_time` was interrupted.
create table agent_run (
  id uuid primary key,
  space text not null,
  user_name text not null,
  conversation_id uuid references conversation (id) on delete cascade,
  create_time timestamptz not null default now(),
  lease_expire_time timestamptz not null,
  cancel_requested boolean not null default false,
  end_time timestamptz
);
create index agent_run_old on agent_run (create_time);
create index agent_run_conversation on agent_run (conversation_id) where conversation_id is not null;

-- The events of a run in the agent's own JSON form, so that any replica can resume its stream.
create table agent_run_event (
  run_id uuid not null references agent_run (id) on delete cascade,
  number integer not null,
  event jsonb not null,
  create_time timestamptz not null,
  primary key (run_id, number)
);
