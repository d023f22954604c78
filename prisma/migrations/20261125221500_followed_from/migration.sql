-- AlterTable
ALTER TABLE "scans" ADD COLUMN     "followed_from" UUID;

-- CreateIndex
CREATE INDEX "scans_followed_from_idx" ON "scans"("followed_from");
