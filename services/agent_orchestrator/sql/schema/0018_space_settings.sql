-- What an operator has set for a space: how long conversations and memories are kept, and how much is taken in a day. Null: no limit.
create table space_setting (
  space text primary key,
  conversation_days integer check (conversation_days > 0),
  memory_days integer check (memory_days > 0),
  upload_bytes_per_day bigint check (upload_bytes_per_day > 0)
);
