-- What many devices say in the same words: the first line of the searched text without its numbers (the other lines hold
-- addresses and serial numbers, one each). A search without digits that is found in a wording is found in all devices of
-- that wording, so that it is counted by adding up instead of by looking at each device.
CREATE FUNCTION search_wording(text TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT regexp_replace(split_part(text, E'\n', 1), '[0-9]+', E'\x01', 'g')
$$;
-- The other lines, in which such a search may be found as well: of them three letters and more in a row, which addresses
-- hardly have.
CREATE FUNCTION search_identifiers(text TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT regexp_replace(substr(text, length(split_part(text, E'\n', 1)) + 1), '(?:[^a-z]|(?<![a-z])[a-z]{1,2}(?![a-z]))+', ' ', 'g')
$$;
CREATE INDEX "devices_search_identifiers_trgm" ON "devices" USING gin (search_identifiers("search_text") gin_trgm_ops);

CREATE TABLE "wordings" (
    "id" BIGSERIAL NOT NULL,
    "wording" TEXT NOT NULL,

    CONSTRAINT "wordings_pkey" PRIMARY KEY ("id")
);
-- By hash: a wording may be longer than a key of a tree. Unique it is because one instance at a time folds.
CREATE INDEX "wordings_by_text" ON "wordings" USING hash ("wording");

CREATE TABLE "wording_counts" (
    "wording_id" BIGINT NOT NULL,
    "site_id" UUID NOT NULL,
    "n" BIGINT NOT NULL,

    CONSTRAINT "wording_counts_pkey" PRIMARY KEY ("wording_id", "site_id") INCLUDE ("n")
);
CREATE INDEX "wording_counts_gone" ON "wording_counts" ("wording_id") WHERE "n" = 0;

-- Appended in the transaction of the change, so that writers wait for nobody; folded into the other two by one instance at
-- a time. Texts from before have one line: they are a wording each until their devices are read again.
CREATE TABLE "wording_changes" (
    "id" BIGSERIAL NOT NULL,
    "site_id" UUID NOT NULL,
    "wording" TEXT NOT NULL,
    "n" BIGINT NOT NULL,

    CONSTRAINT "wording_changes_pkey" PRIMARY KEY ("id")
);

CREATE FUNCTION device_worded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO "wording_changes" ("site_id", "wording", "n")
        SELECT "site_id", search_wording("search_text"), count(*) FROM added GROUP BY 1, 2;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO "wording_changes" ("site_id", "wording", "n")
        SELECT "site_id", search_wording("search_text"), -count(*) FROM removed GROUP BY 1, 2;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO "wording_changes" ("site_id", "wording", "n")
        SELECT site, wording, sum(n) FROM (VALUES
            (OLD."site_id", search_wording(OLD."search_text"), -1),
            (NEW."site_id", search_wording(NEW."search_text"), 1)) AS turned(site, wording, n)
        GROUP BY 1, 2 HAVING sum(n) <> 0;
    ELSE
        TRUNCATE "wordings", "wording_counts", "wording_changes";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "devices_worded_insert" AFTER INSERT ON "devices" REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION device_worded();
CREATE TRIGGER "devices_worded_delete" AFTER DELETE ON "devices" REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION device_worded();
-- By row, with the question in front: a rescan that finds the same world calls nothing.
CREATE TRIGGER "devices_worded_update" AFTER UPDATE ON "devices" FOR EACH ROW WHEN (OLD."search_text" IS DISTINCT FROM NEW."search_text") EXECUTE FUNCTION device_worded();
CREATE TRIGGER "devices_worded_truncate" AFTER TRUNCATE ON "devices" FOR EACH STATEMENT EXECUTE FUNCTION device_worded();

INSERT INTO "wording_changes" ("site_id", "wording", "n")
SELECT "site_id", search_wording("search_text"), count(*) FROM "devices" GROUP BY 1, 2;
