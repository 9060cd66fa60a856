-- Whether a later job may have written or deleted a document that a retry of a job would write or delete.
with old as (
  select * from job where space = $1 and id = $2
), again as (
  select failure.document_id from job_failure failure join old on old.id = failure.job_id
  where old.kind = 'upload' and failure.position >= 0 and not failure.again
  union all
  -- All documents of an upload that failed as a whole: null means any document.
  select named_document(arguments) from old
  where kind = 'upload' and exists (select from job_failure where job_id = old.id and position < 0)
  union all
  select arguments ->> 'document_id' from old where kind = 'delete'
)
select exists (
  select from old
  join job later on later.space = old.space and later.number > old.number
  cross join again
  where later.kind = 'delete' and coalesce(later.arguments ->> 'document_id' = again.document_id, true)
     -- A job that ended without a searchable document has written nothing.
     or later.kind = 'upload' and (later.end_time is null or later.documents_searchable > 0)
        and may_bring(later.arguments, again.document_id)
)
