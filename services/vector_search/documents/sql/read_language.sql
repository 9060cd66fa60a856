-- The space's language, and all available ones.
select coalesce((select c.cfgname from space_stats s join pg_ts_config c on c.oid = s.language where s.space = $1),
                'english')::text as language,
       array(select c.cfgname::text from pg_ts_config c
             where c.cfgnamespace = 'pg_catalog'::regnamespace order by c.cfgname) as available
