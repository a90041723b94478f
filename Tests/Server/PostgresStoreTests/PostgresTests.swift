import PostgresTestSupport
import Testing

/// Tests with a PostgreSQL server, which all of them share: each has databases of its own.
@Suite(
    .enabled(if: !PostgresVersion.installed.isEmpty, "no server of PostgreSQL is installed"), PostgresServer.Shared())
enum PostgresTests {}
