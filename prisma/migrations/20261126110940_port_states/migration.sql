-- AlterTable
ALTER TABLE "interfaces" ADD COLUMN     "aggregate" BIGINT,
ADD COLUMN     "aggregate_active" BOOLEAN,
ADD COLUMN     "stp" TEXT;
