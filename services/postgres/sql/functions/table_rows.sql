-- The rows of a space's tables as JSON, for archives, and back.

-- The columns of a table's primary key with their types, in order, without the space.
create or replace function key_columns(p_table regclass) returns table (name text, type text)
language sql stable as $$
  select a.attname::text, format_type(a.atttypid, a.atttypmod)
  from pg_index i
  cross join lateral unnest(i.indkey::smallint[]) with ordinality as k (number, place)
  join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
  where i.indrelid = p_table and i.indisprimary and a.attname <> 'space'
  order by k.place
$$;

-- A page of a space's rows in the order of the primary key, after the key `p_after`; null is before all. Each row is without
-- the space, what the database numbers itself, and `p_without`.
create or replace function export_rows(p_table regclass, p_space text, p_after jsonb, p_limit integer, p_without text[])
returns table (exported jsonb, key jsonb) language plpgsql stable as $$
declare
  names text;
  texts text;
  bounds text;
  hidden text[];
begin
  select string_agg(format('t.%I', k.name), ', '),
         string_agg(format('t.%I::text', k.name), ', '),
         string_agg(format('($2->>%s)::%s', k.place - 1, k.type), ', ')
  into names, texts, bounds
  from (select c.*, row_number() over () as place from key_columns(p_table) c) k;
  hidden := p_without || 'space'::text || array(
    select a.attname::text from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and a.attidentity <> '');
  return query execute format(
    'select to_jsonb(t) - $3, jsonb_build_array(%s) from %s t
     where t.space = $1 and ($2 is null or (%s) > (%s)) order by %s limit $4',
    texts, p_table, names, bounds, names) using p_space, p_after, hidden, p_limit;
end $$;

-- Stores exported rows in a space, except those that exist. A column that they do not have gets its default.
-- Raises invalid_parameter_value for one that the table does not have.
create or replace function import_rows(p_table regclass, p_space text, p_rows text[]) returns void
language plpgsql as $$
declare
  given text[] := array(select jsonb_object_keys(p_rows[1]::jsonb));
  names text;
  unknown text;
begin
  select g into unknown from unnest(given) g
  where not exists (select from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and a.attname = g);
  if unknown is not null then
    raise invalid_parameter_value using message = format('%s has no %s', p_table, unknown);
  end if;
  select string_agg(quote_ident(a.attname), ', ') into names
  from pg_attribute a
  where a.attrelid = p_table and a.attnum > 0 and a.attidentity = '' and (a.attname = any (given) or a.attname = 'space');
  execute format(
    'insert into %1$s (%2$s)
     select %2$s from unnest($1) r
     cross join lateral jsonb_populate_record(null::%1$s, r::jsonb || jsonb_build_object(''space'', $2))
     on conflict do nothing',
    p_table, names) using p_rows, p_space;
end $$;
