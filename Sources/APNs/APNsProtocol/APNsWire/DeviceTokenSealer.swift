import Crypto
import CryptoExtras
import Foundation
import PushCore

/// Seals registrations into device tokens and opens them again, with AES-GCM-SIV (RFC 8452).
///
/// The nonce is fixed, so the same registration always has the same token; SIV makes that safe. Without a key it is
/// impossible to make a token that opens, or to read one. Earlier keys still open the tokens that they sealed.
package struct DeviceTokenSealer: Sendable {
    private let keys: [SymmetricKey]
    private static let associatedData = Data("aldaba.token.1".utf8)
    private static let nonceBytes = Data(repeating: 0, count: 12)

    /// Takes the keys that seal and open.
    ///
    /// - Parameter keys: 32 bytes each, the current one first.
    /// - Returns: `nil` when there is no key or one has another length.
    package init?(keys: [[UInt8]]) {
        guard !keys.isEmpty, keys.allSatisfy({ $0.count == 32 }) else { return nil }
        self.keys = keys.map { SymmetricKey(data: $0) }
    }

    /// The token of a registration.
    ///
    /// - Throws: The error of the cryptographic library; never for a subject that this type accepts.
    package func seal(_ subject: TokenSubject) throws -> DeviceToken { try seal(subject, with: keys[0]) }

    /// Every token that opens to a registration: the current key's, then those of earlier keys.
    ///
    /// - Throws: The error of the cryptographic library; never for a subject that this type accepts.
    package func everyToken(of subject: TokenSubject) throws -> [DeviceToken] {
        try keys.map { try seal(subject, with: $0) }
    }

    private func seal(_ subject: TokenSubject, with key: SymmetricKey) throws -> DeviceToken {
        let nonce = try AES.GCM._SIV.Nonce(data: Self.nonceBytes)
        let box = try AES.GCM._SIV.seal(
            Self.pack(subject), using: key, nonce: nonce, authenticating: Self.associatedData)
        guard let token = DeviceToken(bytes: Array(box.ciphertext) + Array(box.tag)) else {
            throw CryptoKitError.incorrectParameterSize
        }
        return token
    }

    /// The subject of a token; `nil` when no key opens it.
    package func open(_ token: DeviceToken) -> TokenSubject? {
        let bytes = token.bytes
        guard let nonce = try? AES.GCM._SIV.Nonce(data: Self.nonceBytes),
            let box = try? AES.GCM._SIV.SealedBox(nonce: nonce, ciphertext: bytes[..<16], tag: bytes[16...])
        else { return nil }
        for key in keys {
            // A key that does not fit is no error: the next one is tried.
            if let plain = try? AES.GCM._SIV.open(box, using: key, authenticating: Self.associatedData) {
                return Self.unpack(Array(plain))
            }
        }
        return nil
    }

    /// Cell u16, device u64, app u32, environment 1 bit and generation 15 bits; big-endian.
    private static func pack(_ subject: TokenSubject) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: subject.cell.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: subject.device.rawValue.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: subject.app.rawValue.bigEndian) { bytes.append(contentsOf: $0) }
        let last = (subject.environment == .production ? 0x8000 : 0) | subject.generation & 0x7FFF
        withUnsafeBytes(of: last.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    private static func unpack(_ bytes: [UInt8]) -> TokenSubject? {
        guard bytes.count == 16 else { return nil }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        guard let device = DeviceID(number(2..<10)) else { return nil }
        let last = UInt16(truncatingIfNeeded: number(14..<16))
        return TokenSubject(
            cell: UInt16(truncatingIfNeeded: number(0..<2)), device: device,
            app: AppID(rawValue: UInt32(truncatingIfNeeded: number(10..<14))),
            environment: last & 0x8000 != 0 ? .production : .sandbox, generation: last & 0x7FFF)
    }
}
