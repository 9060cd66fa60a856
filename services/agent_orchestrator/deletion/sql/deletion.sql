-- name: document_expected
-- Whether unfinished uploads may add a document, or it waits for the graph.
select exists (
  select from job
  where space = $1 and kind = 'upload' and not read and state in ('queued', 'running') and may_bring(arguments, $2)
) or exists (select from document where space = $1 and document_id = $2)

-- name: document_pending
-- Whether a document that became searchable up to a number still waits for the graph.
select exists (select from document where space = $1 and document_id = $2 and number <= $3)

-- name: earlier_work
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

-- name: expired_documents
-- Documents whose time is over, of any space that is not being imported, without those that an accepted upload may add again and
-- those that are being deleted.
select e.space, e.document_id from document_expiry e
where e.expire_time <= now()
  and not exists (select from space_import i where i.space = e.space)
  and not exists (
    select from job u
    where u.space = e.space and u.kind = 'upload' and not u.read and u.state in ('queued', 'running')
      and may_bring(u.arguments, e.document_id))
  and not exists (
    select from job d
    where d.space = e.space and d.kind = 'delete' and d.state in ('queued', 'running')
      and d.arguments ->> 'document_id' = e.document_id)
order by e.expire_time limit $1

-- name: forget_expiry
-- Removes the time at which a document would be deleted.
delete from document_expiry where space = $1 and document_id = $2

-- name: last_document
-- The highest number of a document that waits for the graph.
select coalesce(max(number), 0) from document

-- name: running_deletion
-- The unfinished deletion of a document, unless an upload that may add the document was accepted after it.
select * from job d
where space = $1 and kind = 'delete' and state in ('queued', 'running') and arguments ->> 'document_id' = $2
  and not exists (
    select from job u
    where u.space = $1 and u.kind = 'upload' and u.number > d.number and may_bring(u.arguments, $2))
order by number desc limit 1
