-- Forgets what the queue noted of turns more than an hour ago.
delete from pgqueuer_log where created < now() - interval '1 hour'
