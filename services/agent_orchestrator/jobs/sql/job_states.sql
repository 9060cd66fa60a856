-- Number of jobs of all spaces by state: those that wait or run, and those that ended within a day.
select state, count(*) as jobs from job
where state in ('queued', 'running') or end_time > now() - interval '1 day'
group by state
