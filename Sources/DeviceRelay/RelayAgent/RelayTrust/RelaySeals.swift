import CoreValues
import Crypto
import Foundation
import RelayProtocol

/// End-to-end encryption: this device's messages are sealed for the other device, and the server can read none of them.
/// A value.
///
/// Each device has a key of its own, which the account's key signs together with the device's id, name and kind. So the
/// server can add no device of its own to a user's devices, and cannot exchange their names. Between two devices there
/// are Noise IK sessions. The first message of a session carries content, so that nothing waits for a handshake.
///
/// Guarantees: nothing is sent to a device that has not proven to be of the account. A message that was changed,
/// repeated within a session, or is bound to another sender, id or deadline is not opened. A session is used for an
/// hour at most, and for 2^30 bytes or 2^24 messages in one direction.
package struct RelaySeals: Sendable {
    /// How long a session is used, in milliseconds.
    static let sessionAge: Duration = .seconds(3600)
    /// How many sessions with one device are kept, and how many handshakes are waited for.
    static let sessionLimit = 32, handshakeLimit = 256
    /// The bytes that sealing adds at most.
    static let overhead = 256

    /// The kind of a sealed body, its first byte.
    private enum Kind: UInt8 {
        /// The first message of a handshake, which carries a content.
        case begin = 1
        /// The response to a handshake's first message.
        case answer = 2
        /// A content in a session.
        case message = 3
        /// A session that the body of this id names is not known here.
        case reset = 4
    }

    private struct Line {
        var session: NoiseSession
        var lane: Lane
        var since: Timestamp

        var peer: String { lane.peer }
        /// The value of ``useCount`` when the session was last used, by which the least recently used one is found.
        var lastUse: UInt64 = 0
    }

    /// Between two devices messages and pieces of files have sessions of their own, since messages overtake pieces.
    private struct Lane: Hashable {
        var peer: String
        var isBulk: Bool
    }

    /// How much a session carries in one direction.
    var limit = NoiseLimit.standard
    private(set) var key: Curve25519.KeyAgreement.PrivateKey
    /// The account that the device belongs to; `nil` for none.
    package private(set) var account: AccountKey?
    private(set) var ownID = ""
    /// The keys of the person's devices that have proven them.
    private(set) var keys: [String: [UInt8]] = [:]
    /// The list of the user's devices that they exchange with each other.
    private(set) var list: RelayDeviceList?
    /// The keys of other users' devices that communicate with this one, according to the server.
    private var guestKeys: [String: [UInt8]] = [:]
    /// The user's devices according to the server, proven or not. None of them is treated as another user's device.
    private var listed: Set<String> = []
    private var lines: [UUID: Line] = [:]
    private var current: [Lane: UUID] = [:]
    private var useCount: UInt64 = 0
    private var handshakes: [UUID: (lane: Lane, initiator: NoiseInitiator)] = [:]
    private var handshakeOrder: [UUID] = []

    /// Makes seals without sessions.
    ///
    /// - Parameter key: The device's key, 32 bytes; one is drawn where there is none.
    package init(key: [UInt8]? = nil) {
        self.key =
            key.flatMap { try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
            ?? Curve25519.KeyAgreement.PrivateKey()
    }

    /// Draws a device's key.
    package static func newKey() -> [UInt8] { Array(Curve25519.KeyAgreement.PrivateKey().rawRepresentation) }

    /// A session with the server begins, or the account is another.
    package mutating func begin(device: String, account: AccountKey?) {
        ownID = device
        self.account = account
        forgetAll()
    }

    /// The account may be another.
    package mutating func takes(_ account: AccountKey?) {
        if account != self.account { begin(device: ownID, account: account) }
    }

    /// The device has another key; one that is none changes nothing.
    package mutating func takes(key bytes: [UInt8]?) {
        guard let bytes, bytes != Array(key.rawRepresentation),
            let new = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
        else { return }
        key = new
        forgetAll()
    }

    /// The list of the person's devices is another: those that were taken out are no devices of the person's.
    package mutating func takes(_ list: RelayDeviceList?) {
        self.list = list
        for (id, key) in keys where list?.isRemoved(id, key: key) ?? false {
            forget(id)
            keys[id] = nil
        }
    }

    /// The session with the server is over, and all that was sealed in it.
    package mutating func forgetAll() {
        keys = [:]
        guestKeys = [:]
        listed = []
        lines = [:]
        current = [:]
        handshakes = [:]
        handshakeOrder = []
    }

    private mutating func forget(_ peer: String) {
        lines = lines.filter { $0.value.peer != peer }
        handshakes = handshakes.filter { $0.value.lane.peer != peer }
        handshakeOrder.removeAll { handshakes[$0] == nil }
        current = current.filter { $0.key.peer != peer }
    }

    // MARK: Out

    /// Whether devices that are being paired say this, which only the server carries.
    package static func isPairing(_ route: RelayRoute) -> Bool { route.body.first == RelayPairing.mark }

    /// The result of sealing a frame that is to be sent.
    package enum Outgoing {
        /// This is sent instead.
        case send(RelayFrame)
        /// Nothing is sent; this is taken as the server's answer.
        case refused(RelayFrame)
    }

    /// Seals a message for another device, and puts this device's key into a hello.
    package mutating func outgoing(_ frame: RelayFrame, at now: Timestamp) -> Outgoing {
        switch frame {
        case .hello(let token, var device, let wake, let known):
            let own = Array(key.publicKey.rawRepresentation)
            device.key = own
            device.id = ownID
            device.proof = account?.proof(of: device) ?? []
            return .send(.hello(token: token, device, wake: wake, known: known))
        case .route(let route) where Self.isPairing(route):
            // Devices that are being paired have no account in common yet; their messages are encrypted by the pairing
            // itself.
            return .send(frame)
        case .route(let route):
            guard let body = try? sealed(route, at: now) else {
                return .refused(.undelivered(id: route.id, .untrusted))
            }
            var sent = route
            sent.body = body
            return .send(.route(sent))
        case .queuedMessage(let queuedMessage):
            guard let sent = sealed(queuedMessage) else {
                return .refused(.undelivered(id: queuedMessage.id, .untrusted))
            }
            return .send(.queuedMessage(sent))
        default: return .send(frame)
        }
    }

    private mutating func sealed(_ route: RelayRoute, at now: Timestamp) throws -> [UInt8] {
        guard let remote = keys[route.peer] ?? guestKeys[route.peer] else { throw NoiseError.unusableKey }
        let context = Self.context(from: ownID, to: route.peer, route)
        let lane = Lane(peer: route.peer, isBulk: route.isBulk)
        if let id = current[lane], var line = lines[id], line.since > now - Self.sessionAge,
            !line.session.sending.isUsedUp(limit)
        {
            let count = line.session.sending.count
            let sealed = try line.session.sending.seal(route.body, context: context)
            keep(line, id)
            return Self.body(.message, id: id, count: count, rest: sealed)
        }
        var initiator = try NoiseInitiator(own: key, remote: remote, prologue: context)
        let message = try initiator.first(route.body)
        let id = UUID.random()
        handshakes[id] = (lane, initiator)
        handshakeOrder.append(id)
        while handshakeOrder.count > Self.handshakeLimit { handshakes[handshakeOrder.removeFirst()] = nil }
        return Self.body(.begin, id: id, rest: message)
    }

    // MARK: In

    /// The result of opening a frame that was received.
    package struct Incoming {
        /// The opened frame to be handled; `nil` for none.
        package var frame: RelayFrame?
        /// The frame to be sent in response, without sealing.
        package var answer: RelayFrame?
        /// The pairing message of a device.
        package var pairing: (device: String, message: [UInt8])?
        /// Whether the frame is from a device of another user.
        package var isGuests = false
    }

    /// Opens what another device sealed, and notes whose keys are proven.
    package mutating func incoming(_ frame: RelayFrame, at now: Timestamp) -> Incoming {
        switch frame {
        case .welcome(let own, let revision, let devices, let undescribed):
            for device in devices { addListedDevice(device) }
            // What the server slips in is not shown either.
            let known = devices.filter { keys[$0.id] != nil || $0.id == own }
            let shown = undescribed.filter { id in known.contains { $0.id == id } }
            return Incoming(frame: .welcome(device: own, revision: revision, devices: known, undescribed: shown))
        case .changed(let revision, let device):
            let wasKnown = keys[device.id] != nil
            addListedDevice(device)
            guard keys[device.id] == nil else { break }
            return Incoming(frame: wasKnown ? .removed(revision: revision, device: device.id) : nil)
        case .removed(_, let device):
            forget(device)
            keys[device] = nil
            guestKeys[device] = nil
            listed.remove(device)
        case .found(let device), .visited(let device): noteGuest(device)
        case .interrupted(let device): forget(device)
        case .route(let route) where route.body.first == RelayPairing.mark:
            return Incoming(pairing: (route.peer, Array(route.body.dropFirst())))
        case .route(let route):
            var incoming = open(route, at: now)
            incoming.isGuests = keys[route.peer] == nil
            return incoming
        case .queuedMessage(let queuedMessage): return Incoming(frame: .queuedMessage(decrypted(queuedMessage)))
        default: break
        }
        return Incoming(frame: frame)
    }

    /// Records the key of another user's device. It never replaces the key of one of this user's devices.
    private mutating func noteGuest(_ device: RelayDevice) {
        guard !listed.contains(device.id), device.id != ownID, device.key.count == 32 else { return }
        if guestKeys[device.id] != device.key { forget(device.id) }
        if guestKeys[device.id] == nil, guestKeys.count >= RelayDevice.guestLimit { return }
        guestKeys[device.id] = device.key
    }

    private mutating func addListedDevice(_ device: RelayDevice) {
        listed.insert(device.id)
        if guestKeys.removeValue(forKey: device.id) != nil { forget(device.id) }
        let isProven =
            account?.isProven(device) ?? false && list?.isRemoved(device.id, key: device.key) != true
        if keys[device.id] != device.key { forget(device.id) }
        keys[device.id] = isProven ? device.key : nil
    }

    private mutating func open(_ route: RelayRoute, at now: Timestamp) -> Incoming {
        let body = route.body
        guard let kind = body.first.flatMap(Kind.init), body.count >= 17, let id = Self.uuid(body[1..<17]) else {
            return Incoming()
        }
        let rest = body[17...]
        let context = Self.context(from: route.peer, to: ownID, route)
        switch kind {
        case .begin: return begin(id, message: Array(rest), context: context, route: route, at: now)
        case .answer:
            guard var handshake = handshakes[id], handshake.lane.peer == route.peer,
                let end = try? handshake.initiator.finish(Array(rest))
            else { return Incoming() }
            handshakes[id] = nil
            handshakeOrder.removeAll { $0 == id }
            add(Line(session: end.session, lane: handshake.lane, since: now), id)
            current[handshake.lane] = id
            return Incoming()
        case .message:
            guard rest.count > 8, var line = lines[id], line.peer == route.peer,
                let content = try? line.session.receiving.open(
                    rest.dropFirst(8), context: context, at: rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
            else { return reset(id, route) }
            keep(line, id)
            return Incoming(frame: decryptedFrame(route, content))
        case .reset:
            guard rest.count == 16, let command = Self.uuid(rest) else { return Incoming() }
            if lines[id]?.peer == route.peer { forget(route.peer) }
            // This notice is not authenticated, so it only means that the outcome is unknown.
            return Incoming(frame: .undelivered(id: command, .begunAnew))
        }
    }

    private mutating func begin(
        _ id: UUID, message: [UInt8], context: [UInt8], route: RelayRoute, at now: Timestamp
    ) -> Incoming {
        guard let known = keys[route.peer] ?? guestKeys[route.peer],
            var responder = try? NoiseResponder(own: key, first: message, prologue: context),
            responder.remote == known, lines[id] == nil, let end = try? responder.answer([])
        else { return reset(id, route) }
        let lane = Lane(peer: route.peer, isBulk: route.isBulk)
        add(Line(session: end.session, lane: lane, since: now), id)
        // The response is sent first, so that messages from here can follow in the same session.
        if current[lane] == nil { current[lane] = id }
        let body = Self.body(.answer, id: id, rest: end.message)
        return Incoming(
            frame: decryptedFrame(route, responder.payload),
            answer: .route(RelayRoute(peer: route.peer, id: UUID.random(), deadline: nil, body: body)))
    }

    private func decryptedFrame(_ route: RelayRoute, _ content: [UInt8]) -> RelayFrame {
        .route(RelayRoute(peer: route.peer, id: route.id, deadline: route.deadline, body: content))
    }

    private func reset(_ id: UUID, _ route: RelayRoute) -> Incoming {
        let body = Self.body(.reset, id: id, rest: withUnsafeBytes(of: route.id.uuid) { Array($0) })
        return Incoming(answer: .route(RelayRoute(peer: route.peer, id: UUID.random(), deadline: nil, body: body)))
    }

    private mutating func add(_ line: Line, _ id: UUID) {
        // The one that was used last may be the one in which the other device speaks.
        let others = lines.filter { $0.value.lane == line.lane }.sorted { $0.value.lastUse < $1.value.lastUse }
        for other in others.dropLast(Self.sessionLimit - 1) where !current.values.contains(other.key) {
            lines[other.key] = nil
        }
        keep(line, id)
    }

    private mutating func keep(_ line: Line, _ id: UUID) {
        useCount += 1
        lines[id] = line
        lines[id]?.lastUse = useCount
    }

    // MARK: Bytes

    /// The associated data of a sealed body: sender, recipient, id and deadline.
    private static func context(from: String, to: String, _ route: RelayRoute) -> [UInt8] {
        var context: [UInt8] = []
        context.reserveCapacity(64 + from.utf8.count + to.utf8.count)
        context += "aldaba relay 1".utf8
        context.append(0)
        context += from.utf8
        context.append(0)
        context += to.utf8
        context.append(0)
        append(route.id, to: &context)
        append(UInt64(bitPattern: route.deadline ?? -1), to: &context)
        return context
    }

    private static func append(_ id: UUID, to bytes: inout [UInt8]) { withUnsafeBytes(of: id.uuid) { bytes += $0 } }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    /// A body of a kind, with the ids that precede the sealed bytes.
    private static func body(_ kind: Kind, id: UUID, count: UInt64? = nil, rest: [UInt8]) -> [UInt8] {
        var body = [kind.rawValue]
        body.reserveCapacity(32 + rest.count)
        append(id, to: &body)
        if let count { append(count, to: &body) }
        body += rest
        return body
    }

    private static func uuid(_ bytes: ArraySlice<UInt8>) -> UUID? {
        guard bytes.count == 16 else { return nil }
        var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: bytes) }
        return UUID(uuid: id)
    }
}

extension AccountKey {
    /// Proves that a device's key belongs to a device that has the account's key, and that this is what it is called.
    func proof(of device: RelayDevice) -> [UInt8] {
        guard let signature = try? signingKey.signature(for: Self.claim(device)) else { return [] }
        return Array(signature)
    }

    /// Whether the account's key signed a device's key and name.
    func isProven(_ device: RelayDevice) -> Bool {
        device.key.count == 32 && signingKey.publicKey.isValidSignature(device.proof, for: Self.claim(device))
    }

    /// Each part with its length before it, so that no two devices have one claim.
    private static func claim(_ device: RelayDevice) -> [UInt8] {
        [device.key, Array(device.id.utf8), Array(device.name.utf8), Array(device.kind.utf8)]
            .reduce(into: Array("aldaba relay device 2".utf8)) { claim, part in
                claim += [UInt8(truncatingIfNeeded: part.count >> 8), UInt8(truncatingIfNeeded: part.count)] + part
            }
    }
}
