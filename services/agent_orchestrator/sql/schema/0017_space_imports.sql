-- Spaces that are being imported from an archive, until all pages are stored: they take no uploads meanwhile.
create table space_import (
  space text primary key,
  import_id uuid not null,
  archive_id text not null,
  stored_pages bigint not null default 0,
  start_time timestamptz not null default now()
);
