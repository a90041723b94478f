import Foundation

/// Whether there is a path through the server, and the steps where there is none.
extension RelayPaths {
    /// There is a session with the server, according to which these devices have none.
    public mutating func sessionOpened(without absent: Set<String>, at now: Int64) -> [Step] {
        isOpen = true
        away = absent
        return absent.sorted().flatMap { serverLost($0, at: now) }
    }

    /// The session with the server is over: messages in transit through it are lost.
    public mutating func sessionClosed(at now: Int64) -> [Step] {
        isOpen = false
        away = []
        return peers.keys.sorted().flatMap { serverLost($0, at: now) }
    }

    /// A device has a session with the server.
    public mutating func isThere(_ name: String) { away.remove(name) }

    /// A device has no session with the server any more, or another one: messages in transit to it through the server
    /// are lost.
    public mutating func isAway(_ name: String, at now: Int64) -> [Step] {
        away.insert(name)
        return serverLost(name, at: now)
    }

    private mutating func serverLost(_ name: String, at now: Int64) -> [Step] {
        guard var peer = peers[name] else { return [] }
        guard let connection = peer.connection, peer.ending == nil else { return lost(name) }
        var steps: [Step] = []
        if !peer.isReady {
            peer.isReady = true
            steps.append(.reach(peer: name, isDirect: true))
        }
        let held = peer.held
        peer.held = []
        for route in held {
            steps.append(.direct(connection: connection, .route(number: peer.next(route, at: now), route)))
        }
        // Its session may have ended because the device has: soon it is known.
        steps.append(.direct(connection: connection, .probe(number: peer.next(nil, at: now))))
        peers[name] = peer
        return steps + wake(now)
    }

    /// A device is none of the person's any more, or has another key.
    public mutating func drop(_ name: String) -> [Step] {
        away.remove(name)
        return lost(name)
    }

    /// The account is another.
    public mutating func dropAll() -> [Step] { peers.keys.sorted().flatMap { drop($0) } }

    /// A device is not reached any more.
    mutating func lost(_ name: String) -> [Step] {
        guard let peer = peers.removeValue(forKey: name) else { return [] }
        var steps: [Step] = peer.held.map { .refuse(.undelivered(id: $0.id, .unavailable)) }
        if let connection = peer.connection {
            owners[connection] = nil
            remember(connection, peer.received)
            steps.append(.close(connection: connection))
        }
        if peer.isReady { steps.append(.reach(peer: name, isDirect: false)) }
        return steps + [.lost(peer: name)]
    }

    /// The count may be asked for after all else of the connection is forgotten.
    mutating func remember(_ connection: UUID, _ received: Int64) {
        ended.append((connection, received))
        if ended.count > Self.endedLimit { ended.removeFirst() }
    }
}
