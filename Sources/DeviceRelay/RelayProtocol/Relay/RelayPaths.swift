import Foundation

/// Chooses the path by which a device sends to each of the others: through the server, or over a direct connection. A
/// value.
///
/// The server's path has precedence, where there is one. A new direct connection is announced through the server.
/// Messages sent from then on are held until the other device confirms that it has received everything sent through the
/// server before. When the connection breaks, each side reports through the server how much it had received; the rest
/// goes through the server, before any newer message. While either device has no session with the server a direct
/// connection is used at once, and messages in transit are lost when it breaks.
///
/// Guarantees: each message arrives at most once, and those to one device in order, whichever path they take. All of
/// them arrive while both devices have their sessions with the server, and a possible loss is reported
/// (``Step/lost(peer:)``). Messages in transit through the server when a session ended may arrive after newer ones. For
/// one connection at most ``limit`` messages and ``byteLimit`` bytes are unconfirmed.
public struct RelayPaths: Sendable {
    /// The most messages to one device that it has not confirmed, and the most bytes of them.
    public static let limit = 1024, byteLimit = 8 << 20
    /// After how many milliseconds without any sign a connection counts as broken.
    public static let timeout: Int64 = 500
    /// Within how many milliseconds the other device must say that all which went by the server has come.
    public static let readyTimeout: Int64 = 1000
    /// After how many milliseconds without a message the other device is asked for a sign.
    public static let quiet: Int64 = 20_000
    /// How long the other device's count is waited for, in milliseconds.
    public static let countTimeout: Int64 = 10_000

    /// A step for the caller to carry out, in the order of the list.
    public enum Step: Hashable, Sendable {
        /// Send it by the server.
        case relay(RelayRoute)
        /// Send it over a connection.
        case direct(connection: UUID, DirectMessage)
        /// It is not sent; this is taken as the server's answer.
        case refuse(RelayFrame)
        /// A message came over a connection.
        case deliver(RelayRoute)
        /// Close a connection.
        case close(connection: UUID)
        /// A device is reached directly from now on, or not any more.
        case reach(peer: String, isDirect: Bool)
        /// A device is unreachable. The outcome of everything in transit to it is unknown.
        case lost(peer: String)
        /// Call ``RelayPaths/due(at:)`` after so many milliseconds.
        case wake(after: Int64)
    }

    var peers: [String: Peer] = [:]
    var owners: [UUID: String] = [:]
    private var wakesAt: Int64?
    /// Whether there is a session with the server, and which devices have none according to it.
    var isOpen = false
    var away: Set<String> = []
    /// How much had come over connections that have ended, the oldest first.
    var ended: [(connection: UUID, received: Int64)] = []
    static let endedLimit = 64

    /// There are no connections, and no session with the server.
    public init() {}

    /// Whether a device is reached directly.
    public func isDirect(_ peer: String) -> Bool { peers[peer]?.isReady ?? false }
    /// Whether there is a connection to a device, used or not.
    public func isConnected(_ peer: String) -> Bool { peers[peer]?.connection != nil }
    func isByServer(_ peer: String) -> Bool { isOpen && !away.contains(peer) }

    // MARK: Out

    /// Something is to be sent to another device.
    public mutating func send(_ route: RelayRoute, at now: Int64) -> [Step] {
        guard var peer = peers[route.peer], peer.ending != nil || peer.connection != nil else {
            // Where the device is away the server reports it, and may queue the message.
            return isOpen ? [.relay(route)] : [.refuse(.undelivered(id: route.id, .unavailable))]
        }
        guard peer.count < Self.limit, peer.bytes + route.body.count <= Self.byteLimit else {
            return [.refuse(.undelivered(id: route.id, .overloaded))]
        }
        peer.bytes += route.body.count
        guard peer.isReady, let connection = peer.connection else {
            peer.held.append(route)
            peers[route.peer] = peer
            return []
        }
        let number = peer.next(route, at: now)
        peers[route.peer] = peer
        return [.direct(connection: connection, .route(number: number, route))] + wake(now)
    }

    // MARK: Connections

    /// A connection can be used: both devices have proven their identity.
    public mutating func opened(_ connection: UUID, with name: String, at now: Int64) -> [Step] {
        var steps: [Step] = []
        if let old = peers[name]?.connection { steps += closed(old, at: now) }
        var peer = peers[name] ?? Peer()
        peer.connection = connection
        peer.heardAt = now
        peer.begunAt = now
        peer.received = 0
        if peer.ending == nil { peer.begin() }
        guard isByServer(name) else {
            peer.isReady = true
            peers[name] = peer
            owners[connection] = name
            return steps + [.reach(peer: name, isDirect: true)] + wake(now)
        }
        let isAnnounced = peer.announced == connection
        peers[name] = peer
        owners[connection] = name
        if peer.ending == nil { steps += notice(.pathBegins(connection: connection), to: name) }
        if isAnnounced { steps.append(.direct(connection: connection, .ready)) }
        return steps + wake(now)
    }

    /// A connection is over.
    public mutating func closed(_ connection: UUID, at now: Int64) -> [Step] {
        breakOff(connection, at: now, isAnswer: false)
    }

    /// A message came over a connection.
    public mutating func receive(_ message: DirectMessage, over connection: UUID, at now: Int64) -> [Step] {
        guard let name = owners[connection], var peer = peers[name], peer.connection == connection else { return [] }
        peer.heardAt = now
        defer { if peers[name] != nil { peers[name] = peer } }
        switch message {
        case .ready:
            guard peer.ending == nil, !peer.isReady else { return [] }
            peer.isReady = true
            let held = peer.held
            peer.held = []
            let steps: [Step] = held.map {
                .direct(connection: connection, .route(number: peer.next($0, at: now), $0))
            }
            peers[name] = peer
            return [.reach(peer: name, isDirect: true)] + steps + wake(now)
        case .route(let number, var route):
            guard number == peer.received + 1 else { return [.close(connection: connection)] }
            peer.received = number
            route.peer = name
            return [.direct(connection: connection, .taken(upTo: number)), .deliver(route)]
        case .probe(let number):
            guard number == peer.received + 1 else { return [.close(connection: connection)] }
            peer.received = number
            return [.direct(connection: connection, .taken(upTo: number))]
        case .taken(let number):
            peer.answered(upTo: number)
            peer.askedAt = now
            return []
        case .live, .unknown: return []
        }
    }

    // MARK: Notices by the server

    /// The other device has announced a connection by the server.
    public mutating func announced(_ connection: UUID, by name: String) -> [Step] {
        peers[name, default: Peer()].announced = connection
        guard peers[name]?.connection == connection else { return [] }
        return [.direct(connection: connection, .ready)]
    }

    /// The other device reports through the server that a connection ended, and how many messages it had received.
    public mutating func counted(
        _ connection: UUID, received: Int64, isAnswer: Bool, by name: String, at now: Int64
    ) -> [Step] {
        away.remove(name)
        var steps: [Step] = []
        let wasOpen = peers[name]?.connection == connection
        if wasOpen { steps += breakOff(connection, at: now, isAnswer: true) }
        if peers[name]?.ending?.connection == connection { return steps + settle(name, received, at: now) }
        guard !isAnswer, !wasOpen else { return steps }
        // It was never used here, or broke while there was no path by which to report that.
        let count = ended.first { $0.connection == connection }?.received ?? 0
        return steps + notice(.pathEnded(connection: connection, received: count, isAnswer: true), to: name)
    }

    // MARK: Time

    /// The moment that was asked for has come.
    public mutating func due(at now: Int64) -> [Step] {
        wakesAt = nil
        var steps: [Step] = []
        for (name, peer) in peers {
            if let ending = peer.ending, ending.until <= now { steps += lost(name) }
            guard let connection = peer.connection, peers[name] != nil else { continue }
            if let end = peer.breaksAt, end <= now {
                steps += closed(connection, at: now)
            } else if peer.isReady, peer.unanswered.isEmpty, peer.heardAt + Self.quiet <= now,
                let number = peers[name]?.next(nil, at: now)
            {
                steps.append(.direct(connection: connection, .probe(number: number)))
            }
        }
        return steps + wake(now)
    }

    mutating func wake(_ now: Int64) -> [Step] {
        let moments = peers.values.compactMap(\.moment)
        guard let next = moments.min(), wakesAt.map({ next < $0 }) ?? true else { return [] }
        wakesAt = next
        return [.wake(after: max(1, next - now))]
    }

    // MARK: The end of a connection

    private mutating func breakOff(_ connection: UUID, at now: Int64, isAnswer: Bool) -> [Step] {
        guard let name = owners.removeValue(forKey: connection), var peer = peers[name],
            peer.connection == connection
        else { return [] }
        guard isByServer(name) else { return lost(name) }
        remember(connection, peer.received)
        var steps: [Step] = [.close(connection: connection)]
        if peer.isReady { steps.append(.reach(peer: name, isDirect: false)) }
        peer.connection = nil
        peer.isReady = false
        // While the count of an earlier one is waited for, nothing went over this one.
        if peer.ending == nil { peer.ending = (connection, now + Self.countTimeout) }
        steps += notice(.pathEnded(connection: connection, received: peer.received, isAnswer: isAnswer), to: name)
        peers[name] = peer
        return steps + wake(now)
    }

    /// The rest goes by the server, and then what waited.
    private mutating func settle(_ name: String, _ received: Int64, at now: Int64) -> [Step] {
        guard var peer = peers[name] else { return [] }
        let rest = peer.unanswered.filter { $0.number > received }.compactMap(\.route) + peer.held
        peer.ending = nil
        peer.begin()
        peer.begunAt = now
        peers[name] = peer.connection == nil ? nil : peer
        var steps: [Step] = rest.map { .relay($0) }
        if let connection = peer.connection { steps += notice(.pathBegins(connection: connection), to: name) }
        return steps + wake(now)
    }

    private func notice(_ content: RelayContent, to peer: String) -> [Step] {
        guard let body = try? content.encoded() else { return [] }
        return [.relay(RelayRoute(peer: peer, id: UUID.random(), deadline: nil, body: body))]
    }
}
