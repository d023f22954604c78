-- Additive: an older server finds its rows by the new index as well.
-- Partial: what waits to be summarised; means of an hour wait until their 30 days are over.
DROP INDEX "sample_chunks_unsummarised";
CREATE INDEX "sample_chunks_unsummarised" ON "sample_chunks" ("step", "begins") WHERE "step" IN (0, 3600) AND NOT "summarised";
