package aldaba.testing;

import java.nio.file.Path;

/**
 * Where a server for tests is reached.
 *
 * @param http the address of the test API
 * @param apns the address of APNs
 * @param fcm the address of FCM and of the access tokens
 * @param authority the file with the certificate that clients must trust; {@code null} where the JVM trusts it already
 */
public record ServerAddresses(String http, String apns, String fcm, Path authority) {
}
