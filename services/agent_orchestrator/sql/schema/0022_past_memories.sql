-- What a memory said before it was changed, oldest first by replace_time; it goes with the memory.
alter table memory add column update_time timestamptz;

create table past_memory (
  space text not null,
  user_id text not null,
  memory_id uuid not null,
  replace_time timestamptz not null default clock_timestamp(),
  type text not null,
  title text not null,
  content text not null,
  create_time timestamptz not null,
  primary key (space, user_id, memory_id, replace_time),
  foreign key (space, user_id, memory_id) references memory on delete cascade
);
