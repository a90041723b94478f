import Crypto
import Foundation
import PushCore

/// Derives devices' secrets from their ids, by HMAC with SHA-256 under the keys that seal device tokens.
///
/// A server that lost a device, since it was restored from a backup, knows by them that it had enrolled the device.
/// Without a key nobody can make a pair of id and secret that it takes.
package struct DeviceSecrets: Sendable {
    private let keys: [SymmetricKey]
    private static let context = Data("aldaba.device.1".utf8)

    /// Takes the keys, the current one first.
    package init(keys: [[UInt8]]) {
        self.keys = keys.map {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: $0), info: Self.context, outputByteCount: 32)
        }
    }

    /// The secret of a new device, `1 ... Int64.max`; drawn at random where there is no key.
    func secret(of device: DeviceID) -> UInt64 {
        keys.first.map { Self.secret(of: device, $0) } ?? UInt64.random(in: 1...UInt64(Int64.max))
    }

    /// Whether these credentials were given to a device under one of the keys.
    func issued(_ credentials: DeviceCredentials) -> Bool {
        keys.contains { key in
            credentials.matches(
                DeviceCredentials(device: credentials.device, secret: Self.secret(of: credentials.device, key))
                    .secretHash)
        }
    }

    private static func secret(of device: DeviceID, _ key: SymmetricKey) -> UInt64 {
        let id = withUnsafeBytes(of: device.rawValue.bigEndian) { Data($0) }
        let code = HMAC<SHA256>.authenticationCode(for: id, using: key)
        let number = code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return max(1, number & UInt64(Int64.max))
    }
}
