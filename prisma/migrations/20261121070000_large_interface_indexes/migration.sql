-- IF-MIB ends ifIndex at 2^31-1, but optical line terminals number their subscriber ports up to 2^32-1.
ALTER TABLE "device_addresses" ALTER COLUMN "if_index" TYPE BIGINT;
ALTER TABLE "interfaces" ALTER COLUMN "if_index" TYPE BIGINT;
ALTER TABLE "neighbours" ALTER COLUMN "if_index" TYPE BIGINT, ALTER COLUMN "remote_if_index" TYPE BIGINT;
