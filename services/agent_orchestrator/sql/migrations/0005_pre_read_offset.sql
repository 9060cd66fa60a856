-- Where the next turn goes on in an upload whose documents are lines: the bytes and the lines before, of `read_position`
-- documents. It reads the upload from its beginning where `position` is another: the former program moves that alone.
alter table job add column read_offset integer not null default 0, add column read_line integer not null default 0,
  add column read_position integer not null default 0;
