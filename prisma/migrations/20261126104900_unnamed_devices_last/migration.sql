-- Devices without a name are called by their address: they are listed behind those that have one. U+10FFFD, the last character, is
-- behind all names in every collation.
CREATE FUNCTION device_sort_key(TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN $1 ~ '^(\d+(\.\d+){3}|[0-9A-Fa-f]*(:[0-9A-Fa-f.]*){2,})$' THEN chr(1114109) ELSE '' END || natural_order($1)
$$;
CREATE OR REPLACE FUNCTION device_sort_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.sort_name := device_sort_key(NEW.name);
    RETURN NEW;
END $$;
UPDATE "devices" SET "sort_name" = device_sort_key("name") WHERE "sort_name" <> device_sort_key("name");
