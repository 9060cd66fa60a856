-- Which of the given chunks are not stored with the given title, and would be by a version of the given time.
select u.id from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as u (id, title, valid_from)
left join chunk c on c.space = $1 and c.id = u.id
where c.id is null or (c.title <> u.title and names_chunk($1, u.id, coalesce(u.valid_from, now())))
