-- Whether a space has uploads to read.
select exists (
  select from job where space = $1 and kind = 'upload' and not read and state in ('queued', 'running')
)
