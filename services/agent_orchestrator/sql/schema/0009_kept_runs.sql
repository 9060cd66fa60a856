-- Whether anything of the run is saved: false for a caller without the scope `write`, whose run is deleted after its end.
alter table agent_run add column kept boolean not null default true;
create index agent_run_unkept on agent_run (create_time) where not kept;
