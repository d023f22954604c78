-- Failed sign-ins are counted for all instances of the server together; the rows outlive a restart.
CREATE TABLE "login_failures" (
    "key" BYTEA NOT NULL,
    "count" INTEGER NOT NULL,
    "last" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "login_failures_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "login_places" (
    "user_id" UUID NOT NULL,
    "place" TEXT NOT NULL,
    "last" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "login_places_pkey" PRIMARY KEY ("user_id","place")
);

ALTER TABLE "login_places" ADD CONSTRAINT "login_places_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
