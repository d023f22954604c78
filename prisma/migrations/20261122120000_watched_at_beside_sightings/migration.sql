-- When the watch spoke last goes where all else is that every look writes: a summary of each watched device every five
-- minutes wrote its whole row anew, and an entry in each of its indexes.
ALTER TABLE "sightings" ADD COLUMN "watched_at" TIMESTAMPTZ(3);
UPDATE "sightings" v SET "watched_at" = d."watched_at" FROM "devices" d
  WHERE d."site_id" = v."site_id" AND d."id" = v."device_id" AND d."watched_at" IS NOT NULL;
ALTER TABLE "devices" DROP COLUMN "watched_at";
