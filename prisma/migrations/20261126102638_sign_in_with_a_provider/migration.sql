-- AlterTable
ALTER TABLE "users" ADD COLUMN     "oidc_issuer" TEXT,
ADD COLUMN     "oidc_subject" TEXT,
ALTER COLUMN "password_hash" DROP NOT NULL;

-- CreateTable
CREATE TABLE "spent_sign_ins" (
    "state_hash" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spent_sign_ins_pkey" PRIMARY KEY ("state_hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_oidc_issuer_oidc_subject_key" ON "users"("oidc_issuer", "oidc_subject");

-- Prisma knows no checks: an account signs in by a password or with a provider, never both.
ALTER TABLE "users" ADD CONSTRAINT "users_sign_in" CHECK (
    ("oidc_issuer" IS NULL) = ("oidc_subject" IS NULL) AND ("password_hash" IS NULL OR "oidc_subject" IS NULL)
);
