-- Whether a space has uploads that may be read now.
select exists (
  select from job where space = $1 and kind = 'upload' and not read and state in ('queued', 'running')
    and number < first_deletion($1)
)
