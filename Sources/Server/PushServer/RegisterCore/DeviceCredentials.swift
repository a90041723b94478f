import Crypto
import PushCore

/// A device's id and secret. The secret is stored hashed; this is its only plain form.
package struct DeviceCredentials: Hashable, Sendable {
    /// The device's id.
    package var device: DeviceID
    /// The device's secret, drawn from `1 ... Int64.max`; never logged.
    @Secret package var secret: UInt64

    /// Creates credentials that were generated, or sent by a device; nothing is checked.
    package init(device: DeviceID, secret: UInt64) {
        self.device = device
        self.secret = secret
    }
}

extension DeviceCredentials {
    /// The form in which a secret is stored: SHA-256 over the device's id and the secret.
    package var secretHash: [UInt8] {
        var hash = SHA256()
        withUnsafeBytes(of: device.rawValue.bigEndian) { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: secret.bigEndian) { hash.update(bufferPointer: $0) }
        return Array(hash.finalize())
    }

    /// Whether the credentials match a stored hash; compares in constant time.
    package func matches(_ stored: [UInt8]) -> Bool {
        ConstantTime.equal(secretHash, stored)
    }
}
