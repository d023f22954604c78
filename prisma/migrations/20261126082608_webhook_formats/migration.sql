-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "format" TEXT;
