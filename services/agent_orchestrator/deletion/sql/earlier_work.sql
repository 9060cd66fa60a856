-- Whether work on a document that was accepted before a job is not done: uploads that may bring it, read to their end;
-- and deletions of it, of which two at once would share one receipt.
select exists (
  select from job
  where space = $1 and kind = 'upload' and not read and state in ('queued', 'running') and number < $2
    and may_bring(arguments, $3)
) or exists (
  select from job
  where space = $1 and kind = 'delete' and state in ('queued', 'running') and number < $2
    and arguments ->> 'document_id' = $3)
