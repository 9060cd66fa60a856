-- Which of the given chunks are stored with another text or under another document.
select c.id
from unnest($2::uuid[], $3::text[], $4::text[]) as u (id, document_id, content)
cross join lateral (select k.id, k.document_id, k.content from chunk k where k.space = $1 and k.id = u.id offset 0) c
where c.document_id <> u.document_id or c.content <> u.content
