-- AlterTable
ALTER TABLE "samples" ADD COLUMN     "unsent" BOOLEAN;


-- Partial: what waits for the engine, the oldest first; nothing where there is none.
CREATE INDEX "samples_unsent" ON "samples" ("at") WHERE "unsent";
