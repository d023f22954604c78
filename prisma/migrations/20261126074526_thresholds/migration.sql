-- AlterTable
ALTER TABLE "devices" ADD COLUMN     "thresholds" JSONB;

-- AlterTable
ALTER TABLE "interfaces" ADD COLUMN     "thresholds" JSONB;
