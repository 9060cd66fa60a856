-- Who adds to a session of memories now: each of them follows the one before it, whichever process takes it.
create table memory_session_lease (
  space text not null,
  user_id text not null,
  session_id text not null,
  holder uuid not null,
  expire_time timestamptz not null,
  primary key (space, user_id, session_id)
);
