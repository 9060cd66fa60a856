-- What was not taken of the documents of uploads, or not as written. Deleted with the job.
alter table job add column warning_count integer not null default 0;
create table job_warning (
  job_id uuid not null references job (id) on delete cascade,
  -- The document's place in the upload, and the warning's place among those of the document.
  position integer not null,
  number smallint not null,
  document_id text not null,
  reason text not null,
  notice text not null,
  place text not null,
  primary key (job_id, position, number)
);
