-- When documents are deleted by themselves: set by the upload that was read last. Rows go with the document.
create table document_expiry (
  space text not null,
  document_id text not null,
  expire_time timestamptz not null,
  primary key (space, document_id)
);
create index document_expiry_due on document_expiry (expire_time);
