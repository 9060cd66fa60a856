-- Calls with an idempotency key: who runs one now, and the response of one that has succeeded.
create table idempotency_key (
  space text not null,
  user_id text not null,
  method text not null,
  key text not null,
  holder uuid not null,
  -- Of the request; null while a stream of requests is being read.
  digest bytea,
  response bytea,
  lease_time timestamptz not null,
  expire_time timestamptz not null,
  primary key (space, user_id, method, key)
);
create index idempotency_key_expired on idempotency_key (expire_time);
