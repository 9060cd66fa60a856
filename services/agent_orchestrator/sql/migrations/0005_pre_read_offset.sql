-- Where the next turn goes on in an upload whose documents are lines: the bytes and the lines before, of `position`
-- documents. Without any it reads the upload from its beginning.
alter table job add column read_offset integer not null default 0, add column read_line integer not null default 0;
