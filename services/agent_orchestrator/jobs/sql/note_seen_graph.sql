-- Records a revision of a space's graph, unless a higher one was recorded.
insert into seen_graph (space, revision) values ($1, $2)
on conflict (space) do update set revision = excluded.revision, update_time = now()
where seen_graph.revision < excluded.revision
