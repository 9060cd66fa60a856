-- Forgets jobs that ended more than $1 days ago.
delete from job where end_time < now() - make_interval(days => $1)
