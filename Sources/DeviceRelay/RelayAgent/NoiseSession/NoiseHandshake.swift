import Crypto

/// The result of a handshake: a cipher for each direction, and a session id that both sides share.
package struct NoiseSession: Sendable {
    /// The cipher that seals this side's messages.
    package var sending: NoiseCipher
    /// The cipher that opens the other side's messages.
    package var receiving: NoiseCipher
    /// The hash of the handshake: the same on both sides, and on no others.
    package let handshakeHash: [UInt8]
}

/// The side that begins, and knows the other's static key.
package struct NoiseInitiator: Sendable {
    private var state: NoiseState
    private let ownKey: Curve25519.KeyAgreement.PrivateKey
    private let ephemeralKey: Curve25519.KeyAgreement.PrivateKey
    private let remoteKey: Curve25519.KeyAgreement.PublicKey

    /// Begins a handshake.
    ///
    /// - Parameters:
    ///   - remote: The other side's static public key, 32 bytes.
    ///   - prologue: What both sides must agree on beforehand.
    ///   - ephemeral: A key of this handshake alone.
    package init(
        own: Curve25519.KeyAgreement.PrivateKey, remote: [UInt8], prologue: [UInt8] = [],
        ephemeral: Curve25519.KeyAgreement.PrivateKey = .init()
    ) throws(NoiseError) {
        ownKey = own
        ephemeralKey = ephemeral
        remoteKey = try NoiseState.key(remote)
        state = NoiseState(prologue: prologue)
        state.mix(remote)
    }

    /// The first message: `e, es, s, ss`. Only the other side can read its payload; an attacker may replay it.
    package mutating func first(_ payload: [UInt8]) throws(NoiseError) -> [UInt8] {
        let ephemeral = Array(ephemeralKey.publicKey.rawRepresentation)
        state.mix(ephemeral)
        try state.mix(ephemeralKey, remoteKey)
        let own = try state.encrypt(Array(ownKey.publicKey.rawRepresentation))
        try state.mix(ownKey, remoteKey)
        return try ephemeral + own + state.encrypt(payload)
    }

    /// Reads the answer, `e, ee, se`, which ends the handshake.
    package mutating func finish(_ message: [UInt8]) throws(NoiseError) -> (payload: [UInt8], session: NoiseSession) {
        guard message.count >= 32 + NoiseCipher.overhead else { throw .truncated }
        let ephemeral = Array(message[..<32])
        state.mix(ephemeral)
        let key = try NoiseState.key(ephemeral)
        try state.mix(ephemeralKey, key)
        try state.mix(ownKey, key)
        let payload = try state.decrypt(Array(message[32...]))
        let ciphers = state.split()
        return (
            payload,
            NoiseSession(sending: ciphers.initiator, receiving: ciphers.responder, handshakeHash: state.hash)
        )
    }
}

/// The side that is asked.
package struct NoiseResponder: Sendable {
    private var state: NoiseState
    private let ownKey: Curve25519.KeyAgreement.PrivateKey
    private let remoteEphemeral: Curve25519.KeyAgreement.PublicKey
    private let remoteKey: Curve25519.KeyAgreement.PublicKey
    /// The other side's static public key, which it has proven to have. Whose that is, is for the caller to know.
    package let remote: [UInt8]
    /// The payload of the first message.
    package let payload: [UInt8]

    /// Reads the first message of a handshake.
    package init(
        own: Curve25519.KeyAgreement.PrivateKey, first message: [UInt8], prologue: [UInt8] = []
    ) throws(NoiseError) {
        guard message.count >= 32 + 48 + NoiseCipher.overhead else { throw .truncated }
        ownKey = own
        var state = NoiseState(prologue: prologue)
        state.mix(Array(own.publicKey.rawRepresentation))
        let ephemeral = Array(message[..<32])
        state.mix(ephemeral)
        remoteEphemeral = try NoiseState.key(ephemeral)
        try state.mix(own, remoteEphemeral)
        remote = try state.decrypt(Array(message[32..<80]))
        remoteKey = try NoiseState.key(remote)
        try state.mix(own, remoteKey)
        payload = try state.decrypt(Array(message[80...]))
        self.state = state
    }

    /// The answer, `e, ee, se`, which ends the handshake.
    ///
    /// - Parameter ephemeral: A key of this handshake alone.
    package mutating func answer(
        _ payload: [UInt8], ephemeral: Curve25519.KeyAgreement.PrivateKey = .init()
    ) throws(NoiseError) -> (message: [UInt8], session: NoiseSession) {
        let key = Array(ephemeral.publicKey.rawRepresentation)
        state.mix(key)
        try state.mix(ephemeral, remoteEphemeral)
        try state.mix(ephemeral, remoteKey)
        let message = try key + state.encrypt(payload)
        let ciphers = state.split()
        return (
            message,
            NoiseSession(sending: ciphers.responder, receiving: ciphers.initiator, handshakeHash: state.hash)
        )
    }
}
