import Crypto
import CryptoExtras
import Foundation
import PushCore

/// A device token as it travels: 32 sealed bytes, 64 hexadecimal digits.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Reads 64 hexadecimal digits of either case; `nil` for anything else.
    package init?(hexadecimal digits: ArraySlice<UInt8>) {
        guard digits.count == 64 else { return nil }
        // A byte that is no digit sets a bit above the low four: one test at the end is enough.
        let (words, faults) = digits.withUnsafeBufferPointer { bytes in
            var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            var faults: UInt8 = 0
            func word(_ start: Int) -> UInt64 {
                var word: UInt64 = 0
                for index in start..<(start + 16) {
                    let digit = Hexadecimal.table[Int(bytes[index])]
                    faults |= digit
                    word = word << 4 | UInt64(digit & 15)
                }
                return word
            }
            words.0 = word(0)
            words.1 = word(16)
            words.2 = word(32)
            words.3 = word(48)
            return (words, faults)
        }
        guard faults < 16 else { return nil }
        self.words = words
    }

    /// Reads 64 hexadecimal digits of either case; `nil` for anything else.
    package init?(text: String) { self.init(hexadecimal: ArraySlice(text.utf8)) }

    /// Takes the 32 bytes; `nil` for any other number of them.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: [4 of UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() { words[index >> 3] = words[index >> 3] << 8 | UInt64(byte) }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for word in [words.0, words.1, words.2, words.3] {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// 64 lower-case hexadecimal digits.
    package var description: String { Hexadecimal.text(bytes) }

    package static func == (left: DeviceToken, right: DeviceToken) -> Bool {
        left.words.0 == right.words.0 && left.words.1 == right.words.1 && left.words.2 == right.words.2
            && left.words.3 == right.words.3
    }

    package func hash(into hasher: inout Hasher) {
        // Sealed bytes are as good as random: two words distinguish tokens.
        hasher.combine(words.0)
        hasher.combine(words.2)
    }
}

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
