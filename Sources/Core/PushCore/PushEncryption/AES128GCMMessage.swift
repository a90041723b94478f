import Crypto
import Foundation

/// A body in the content coding `aes128gcm` (RFC 8188, section 2): a header and records.
///
/// The header is a salt of 16 bytes, the record size in four and a key id of up to 255 bytes after its length.
struct AES128GCMMessage: Sendable {
    static let saltLength = 16
    static let tagLength = 16
    /// Salt, record size and the length of the key id.
    static let fixedHeaderLength = 21
    /// The smallest record size: a tag, a delimiter and one byte (section 2.1).
    static let smallestRecordSize = 18

    /// Made at random for each message.
    let salt: [UInt8]
    let recordSize: Int
    let keyID: [UInt8]
    let records: ArraySlice<UInt8>

    /// Reads the header.
    init(_ body: [UInt8]) throws(DecryptionError) {
        guard body.count >= Self.fixedHeaderLength else { throw .truncated }
        salt = Array(body[..<Self.saltLength])
        recordSize = body[Self.saltLength..<20].reduce(0) { $0 << 8 | Int($1) }
        let end = Self.fixedHeaderLength + Int(body[20])
        guard body.count >= end else { throw .truncated }
        keyID = Array(body[Self.fixedHeaderLength..<end])
        records = body[end...]
    }

    /// Opens all records and takes their padding off.
    ///
    /// - Throws: ``DecryptionError/wrongKey`` for the first record that the key does not open.
    func open(_ keyingMaterial: SymmetricKey) throws(DecryptionError) -> [UInt8] {
        guard recordSize >= Self.smallestRecordSize else {
            throw .recordSize(declared: recordSize, carried: records.count)
        }
        let keys = RecordKeys(keyingMaterial, salt: salt)
        var plaintext: [UInt8] = []
        var rest = records
        var sequence: UInt64 = 0
        repeat {
            let record = rest.prefix(recordSize)
            rest = rest.dropFirst(record.count)
            guard record.count > Self.tagLength else { throw .truncated }
            plaintext += try Self.unpadded(keys.open(record, sequence), isLast: rest.isEmpty)
            sequence += 1
        } while !rest.isEmpty
        return plaintext
    }

    /// The content ends before the last byte that is not zero: 2 in the last record, 1 in the others.
    private static func unpadded(_ record: Data, isLast: Bool) throws(DecryptionError) -> Data {
        guard let delimiter = record.lastIndex(where: { $0 != 0 }) else { throw .padding }
        switch (record[delimiter], isLast) {
        case (2, true), (1, false): return record[..<delimiter]
        case (1, true): throw .truncated
        default: throw .padding
        }
    }

    /// Seals a content into as many records as it takes.
    ///
    /// - Parameters:
    ///   - salt: 16 bytes at random, never used twice with the same keying material.
    ///   - recordSize: At least 18.
    ///   - keyID: At most 255 bytes.
    ///   - padding: How many zeros hide the content's length, in the last record.
    static func seal(
        _ content: [UInt8], with keyingMaterial: SymmetricKey, salt: [UInt8], recordSize: UInt32, keyID: [UInt8],
        padding: Int = 0
    ) throws -> [UInt8] {
        precondition(salt.count == saltLength && recordSize >= smallestRecordSize && keyID.count <= 255)
        let keys = RecordKeys(keyingMaterial, salt: salt)
        var body = salt + (0..<4).map { UInt8(truncatingIfNeeded: recordSize >> (24 - 8 * $0)) }
        body += [UInt8(keyID.count)] + keyID
        let capacity = Int(recordSize) - tagLength - 1
        var rest = content[...]
        var sequence: UInt64 = 0
        while rest.count > capacity {
            body += try keys.seal(rest.prefix(capacity) + [1], sequence)
            rest = rest.dropFirst(capacity)
            sequence += 1
        }
        body += try keys.seal(rest + [2] + [UInt8](repeating: 0, count: min(padding, capacity - rest.count)), sequence)
        return body
    }
}

/// The key and the nonces of one message's records (RFC 8188, sections 2.2 and 2.3).
private struct RecordKeys {
    let key: SymmetricKey
    let nonce: [UInt8]

    init(_ keyingMaterial: SymmetricKey, salt: [UInt8]) {
        func derived(_ purpose: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: keyingMaterial, salt: salt, info: Array("Content-Encoding: \(purpose)\0".utf8),
                outputByteCount: count)
        }
        key = derived("aes128gcm", 16)
        nonce = derived("nonce", 12).withUnsafeBytes { Array($0) }
    }

    /// The nonce with the record's number, in network order, XORed into it.
    private func nonce(_ sequence: UInt64) throws -> AES.GCM.Nonce {
        var bytes = nonce
        for place in 0..<8 { bytes[11 - place] ^= UInt8(truncatingIfNeeded: sequence >> (8 * place)) }
        return try AES.GCM.Nonce(data: bytes)
    }

    func open(_ record: ArraySlice<UInt8>, _ sequence: UInt64) throws(DecryptionError) -> Data {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: nonce(sequence), ciphertext: record.dropLast(AES128GCMMessage.tagLength),
                tag: record.suffix(AES128GCMMessage.tagLength))
            return try AES.GCM.open(box, using: key)
        } catch {
            throw .wrongKey
        }
    }

    func seal(_ content: some Sequence<UInt8>, _ sequence: UInt64) throws -> [UInt8] {
        let box = try AES.GCM.seal(Array(content), using: key, nonce: nonce(sequence))
        return Array(box.ciphertext) + Array(box.tag)
    }
}
