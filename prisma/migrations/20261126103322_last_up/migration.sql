-- AlterTable
ALTER TABLE "interfaces" ADD COLUMN     "last_up_at" TIMESTAMPTZ(3);
