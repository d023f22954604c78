-- Partitions the tables that grow by site: each site lies in one of sixteen parts of each table, always the one of the
-- same number. For many sites on one PostgreSQL: vacuum, index builds and restores go by parts, and parts can have
-- tablespaces of their own. docs/scaling.md says when.
--
--   systemctl stop rollcall-server
--   psql --single-transaction -v ON_ERROR_STOP=1 -f partition-by-site.sql "$DATABASE_URL"
--   systemctl start rollcall-server
--
-- PostgreSQL 15 or later; copies what is there, so as much space again must be free. Definitions are read from the
-- catalogue, whatever the release; later releases migrate such a database like a plain one, but for references between these
-- tables (below). The way back is a backup, restored into an empty database.

DO $$
DECLARE
  parts CONSTANT int := 16;
  grows CONSTANT text[] := ARRAY['devices', 'sightings', 'evidence', 'device_addresses', 'device_facts', 'walk_parts', 'interfaces',
    'entities', 'neighbours', 'endpoints', 'endpoint_macs', 'endpoint_changes', 'samples', 'sample_chunks', 'baselines', 'traffic_baselines', 'sensors', 'monitoring_history', 'backlog_history', 'merged_devices', 'events', 'event_charts', 'cases', 'case_activity', 'conditions'];
  t text;
  storage text;
  -- To be made again, in this order, after the plain tables are gone.
  again text[] := '{}';
  links text[] := '{}';
  each record;
BEGIN
  IF EXISTS (SELECT 1 FROM pg_class WHERE relname = 'devices' AND relkind = 'p' AND relnamespace = current_schema()::regnamespace) THEN
    RAISE NOTICE 'these tables are partitioned already';
    RETURN;
  END IF;

  -- Foreign keys among them go first and come last: they hold the tables to each other. Between two that are partitioned
  -- they lie on the parts, as what belongs together lies in parts of one number: each row's check of a whole partitioned table
  -- locks all of its parts, and a first discovery took 1.7 times as long. A migration that changes one does so for each part; what
  -- they delete along fires triggers of rows, none of statements.
  FOR each IN
    SELECT k.conname, r.relname, f.relname AS other, pg_get_constraintdef(k.oid) AS definition FROM pg_constraint k
    JOIN pg_class r ON r.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
    WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace AND (r.relname = ANY (grows) OR f.relname = ANY (grows))
  LOOP
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', each.relname, each.conname);
    IF each.relname = ANY (grows) AND each.other = ANY (grows) THEN
      FOR part IN 0 .. parts - 1 LOOP
        links := links || format('ALTER TABLE %I ADD CONSTRAINT %I %s', each.relname || '_' || part, each.conname,
          replace(each.definition, format('REFERENCES %I(', each.other), format('REFERENCES %I(', each.other || '_' || part)));
      END LOOP;
    ELSE
      links := links || format('ALTER TABLE %I ADD CONSTRAINT %I %s', each.relname, each.conname, each.definition);
    END IF;
  END LOOP;

  FOREACH t IN ARRAY grows LOOP
    again := '{}';
    FOR each IN
      SELECT i.indexrelid, i.indisprimary, i.indisunique, k.conname, pg_get_constraintdef(k.oid) AS kept, pg_get_indexdef(i.indexrelid) AS definition,
        EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = t::regclass AND a.attname = 'site_id' AND a.attnum = ANY (i.indkey)) AS by_site
      FROM pg_index i LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
      WHERE i.indrelid = t::regclass ORDER BY NOT i.indisprimary, i.indexrelid
    LOOP
      again := again || CASE
        WHEN each.conname IS NOT NULL AND each.by_site THEN format('ALTER TABLE %I ADD CONSTRAINT %I %s', t, each.conname, each.kept)
        -- PostgreSQL keeps a key unique only together with what it partitions by. These are random (RFC 9562) or come
        -- out of one sequence; they stay indexed.
        WHEN NOT each.by_site THEN replace(each.definition, 'CREATE UNIQUE INDEX', 'CREATE INDEX')
        ELSE each.definition
      END;
    END LOOP;
    FOR each IN SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE tgrelid = t::regclass AND NOT tgisinternal LOOP
      again := again || each.definition;
    END LOOP;

    SELECT coalesce(' WITH (' || array_to_string(reloptions, ', ') || ')', '') INTO storage FROM pg_class WHERE oid = t::regclass;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', t, t || '_plain');
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (site_id)', t, t || '_plain');
    FOR part IN 0 .. parts - 1 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)%s', t || '_' || part, t, parts, part, storage);
    END LOOP;
    FOR each IN
      SELECT s.relname, a.attname FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
      JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      WHERE d.refobjid = (t || '_plain')::regclass AND d.deptype = 'a'
    LOOP
      EXECUTE format('ALTER SEQUENCE %I OWNED BY %I.%I', each.relname, t, each.attname);
    END LOOP;
    EXECUTE format('INSERT INTO %I SELECT * FROM %I', t, t || '_plain');
    EXECUTE format('DROP TABLE %I', t || '_plain');
    FOR i IN 1 .. cardinality(again) LOOP
      EXECUTE again[i];
    END LOOP;
    EXECUTE format('ANALYZE %I', t);
  END LOOP;

  FOR i IN 1 .. cardinality(links) LOOP
    EXECUTE links[i];
  END LOOP;
END
$$;
