-- Adds to the space's counters and raises its revision: the last lock that a write takes.
update space_stats s set
  revision = revision + 1, documents = documents + $2, chunks = chunks + $3, n = n + $4, total = total + $5,
  next_change = (select coalesce(min(v.valid_from), 'infinity') from document_version v
                 where v.space = $1 and v.pending)
where s.space = $1
returning revision
