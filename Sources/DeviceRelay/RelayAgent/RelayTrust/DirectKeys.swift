import Crypto
import Foundation
import RelayProtocol

/// The keys by which a device recognises the user's other devices in one network, and is recognised by them alone. A
/// value.
///
/// An announcement holds a salt and a tag that only devices of the account can match with a device. With another salt
/// no other device can recognise it as the same one. Connections begin with the handshake of ``RelaySeals``, by the
/// keys that the account's key signed.
package struct DirectKeys: Sendable {
    /// How long an announcement's salt and tag are, in bytes.
    package static let saltLength = 16, tagLength = 16
    /// How long the messages of a handshake are at most, in bytes.
    package static let handshakeLength = 512

    private let ownID: String
    private let key: Curve25519.KeyAgreement.PrivateKey
    private let nearbyKey: SymmetricKey
    private let keys: [String: [UInt8]]

    init(
        ownID: String, key: Curve25519.KeyAgreement.PrivateKey, account: AccountKey, keys: [String: [UInt8]]
    ) {
        self.ownID = ownID
        self.key = key
        nearbyKey = account.nearbyKey
        self.keys = keys
    }

    /// The devices that have proven to be of the account.
    package var peers: [String] { keys.keys.filter { $0 != ownID } }
    /// Whether this device is the one of the two that begins a connection.
    package func begins(with peer: String) -> Bool { ownID < peer }
    /// The key that a device has proven; `nil` for one that has not.
    package func key(of peer: String) -> [UInt8]? { keys[peer] }

    /// Whether these are of the same device, with the same key and account: what it announced stays true.
    package func isSameDevice(as other: DirectKeys?) -> Bool {
        ownID == other?.ownID && key.rawRepresentation == other?.key.rawRepresentation && nearbyKey == other?.nearbyKey
    }

    // MARK: Announcements

    /// The tag of this device under a salt.
    package func tag(salt: [UInt8]) -> [UInt8] { tag(of: Array(key.publicKey.rawRepresentation), salt) }

    /// The device that announced itself; `nil` for one that is none of the person's others.
    package func peer(salt: [UInt8], tag: [UInt8]) -> String? {
        guard salt.count == Self.saltLength, tag.count == Self.tagLength else { return nil }
        return keys.first { $0.key != ownID && self.tag(of: $0.value, salt) == tag }?.key
    }

    private func tag(of key: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: salt + key, using: nearbyKey).prefix(Self.tagLength))
    }

    // MARK: Connections

    /// The first message of a connection to a device; `nil` where its key is not proven.
    package func begin(_ connection: UUID, with peer: String) -> (message: [UInt8], handshake: DirectHandshake)? {
        guard let remote = keys[peer],
            var initiator = try? NoiseInitiator(own: key, remote: remote, prologue: Self.prologue(to: peer)),
            let message = try? initiator.first(withUnsafeBytes(of: connection.uuid) { Array($0) } + Array(ownID.utf8))
        else { return nil }
        return (message, DirectHandshake(initiator: initiator))
    }

    /// Answers the first message of a connection; `nil` for a device that is none of the user's.
    package func answer(
        _ first: [UInt8]
    ) -> (peer: String, connection: UUID, message: [UInt8], session: DirectSession)? {
        guard first.count <= Self.handshakeLength,
            var responder = try? NoiseResponder(own: key, first: first, prologue: Self.prologue(to: ownID)),
            responder.payload.count > 16
        else { return nil }
        let peer = String(decoding: responder.payload[16...], as: UTF8.self)
        guard peer != ownID, keys[peer] == responder.remote, let end = try? responder.answer([]) else { return nil }
        var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: responder.payload[..<16]) }
        return (peer, UUID(uuid: id), end.message, DirectSession(session: end.session))
    }

    private static func prologue(to device: String) -> [UInt8] {
        Array("aldaba relay direct 1".utf8) + [0] + Array(device.utf8)
    }
}

/// A handshake whose first message was sent.
package struct DirectHandshake: Sendable {
    private var initiator: NoiseInitiator

    fileprivate init(initiator: NoiseInitiator) { self.initiator = initiator }

    /// Reads the answer; `nil` where it is not the other device's.
    package mutating func finish(_ answer: [UInt8]) -> DirectSession? {
        (try? initiator.finish(answer)).map { DirectSession(session: $0.session) }
    }
}

/// The secrecy of a connection between two devices, from one end to the other.
package struct DirectSession: Sendable {
    /// The number of bytes that sealing adds to a message.
    package static let overhead = NoiseCipher.overhead

    private var session: NoiseSession
    /// How much a key carries.
    var limit = NoiseLimit.standard

    fileprivate init(session: NoiseSession) { self.session = session }

    /// Seals a message.
    ///
    /// - Throws: a fault of the message or of the session, which is of no use then.
    package mutating func seal(_ message: DirectMessage) throws -> [UInt8] {
        // Every message arrives, in order: the other side takes the new key before the same one.
        if session.sending.isUsedUp(limit) { try session.sending.rekey() }
        return try session.sending.seal(try message.encoded())
    }

    /// Opens the next message that came.
    ///
    /// - Throws: where it is not the other device's next, or none; the session is of no use then.
    package mutating func open(_ bytes: [UInt8]) throws -> DirectMessage {
        if session.receiving.isUsedUp(limit) { try session.receiving.rekey() }
        return try DirectMessage(try session.receiving.open(bytes[...]))
    }
}

extension RelaySeals {
    /// The keys for direct connections between devices; `nil` while this one belongs to no account or has no id.
    ///
    /// The user's devices are those that have proven it in this session with the server, and those of the list on the
    /// disk that the devices exchange.
    package var direct: DirectKeys? {
        guard let account, !ownID.isEmpty else { return nil }
        let listed = (list?.entries ?? []).filter { !$0.isRemoved }.map { ($0.id, $0.key) }
        let known = Dictionary(listed) { $1 }.merging(keys) { $1 }
        return DirectKeys(ownID: ownID, key: key, account: account, keys: known)
    }
}
