-- Whether work on a document that was accepted before a job is unfinished: uploads that may add it and are not read to
-- the end; deletions of it, because two concurrent deletions would share one receipt.
select exists (
  select from job
  where space = $1 and kind = 'upload' and not read and state in ('queued', 'running') and number < $2
    and may_bring(arguments, $3)
) or exists (
  select from job
  where space = $1 and kind = 'delete' and state in ('queued', 'running') and number < $2
    and arguments ->> 'document_id' = $3)
