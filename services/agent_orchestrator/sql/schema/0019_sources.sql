-- Places whose documents are kept in step, with how their last run ended.
create table source (
  space text not null,
  name text not null,
  kind smallint not null,
  root text not null,
  include text[] not null,
  exclude text[] not null,
  every_minutes integer,
  credential_variable text not null,
  with_history boolean not null,
  paused boolean not null,
  create_time timestamptz not null default now(),
  last_run jsonb,
  primary key (space, name)
);
