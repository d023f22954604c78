-- What became of a mail by address, in place of whom it still waits for.
ALTER TABLE "deliveries" ADD COLUMN "recipients" JSONB NOT NULL DEFAULT '[]';
UPDATE "deliveries" SET "recipients" = (
    SELECT jsonb_agg(jsonb_build_object('address', address, 'state', 'deferred', 'said', '')) FROM unnest("deferred") AS address)
WHERE "status" = 'queued' AND cardinality("deferred") > 0;
ALTER TABLE "deliveries" DROP COLUMN "deferred";
