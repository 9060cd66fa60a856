-- Removes ended writes after so many days.
delete from memory_write where end_time < now() - make_interval(days => $1)
