-- Which of the given chunks are stored with another text or under another document.
select c.id
from unnest($2::uuid[], $3::text[], $4::text[]) as u (id, document_id, content)
join chunk c on c.space = $1 and c.id = u.id
where c.document_id <> u.document_id or c.content <> u.content
