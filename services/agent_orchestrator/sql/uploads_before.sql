-- Whether uploads that were accepted before a job and may bring a document are not read to their end.
select exists (
  select from job
  where space = $1 and kind = 'upload' and not read and state in ('queued', 'running') and number < $2
    and may_bring(arguments, $3))
