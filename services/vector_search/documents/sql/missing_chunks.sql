-- Which of the given chunks would need a new vector: those not stored, or stored with a title that a version of the
-- given time would replace.
select u.id from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as u (id, title, valid_from)
left join lateral (select k.id, k.title from chunk k where k.space = $1 and k.id = u.id offset 0) c on true
where c.id is null or (c.title <> u.title and sets_chunk_title($1, u.id, coalesce(u.valid_from, now())))
