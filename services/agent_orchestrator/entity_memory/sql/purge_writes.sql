-- Deletes writes that ended more than the given number of days ago.
delete from memory_write where end_time < now() - make_interval(days => $1)
