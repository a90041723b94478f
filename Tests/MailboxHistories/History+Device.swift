import PushCore
import PushServer

/// What the device does in a history, and how it ends.
extension History {
    /// Stores what the next packets bring, and acknowledges it.
    mutating func read() {
        guard var connection, !connection.toDevice.isEmpty else { return }
        let count = min(connection.toDevice.count, Int(random.next() % 3) + 1)
        let items = connection.toDevice.prefix(count)
        connection.toDevice.removeFirst(count)
        var stored: [NotificationID] = []
        for item in items {
            switch item {
            case .notification(let id):
                if unconfirmed.insert(id).inserted {
                    if let last = shown.last, last >= id { fault("\(id) is shown after \(last)") }
                    shown.append(id)
                    visible.insert(id)
                }
                stored.append(id)
            case .deletion(let tombstone):
                if unconfirmed.insert(tombstone.id).inserted { deletions += 1 }
                stored.append(tombstone.id)
            case .recall(let recall):
                if unconfirmed.insert(recall.id).inserted { visible.remove(recall.notification) }
                stored.append(recall.id)
            case .confirmation(let ids): unconfirmed.subtract(ids)
            }
        }
        acknowledgedByDevice.formUnion(stored)
        if !stored.isEmpty { connection.toServer.append(stored) }
        self.connection = connection
    }

    /// Logs in on a new connection. Of the one before, acknowledgements may still be in transit.
    mutating func connect() {
        if let connection { earlier = connection }
        let named = unconfirmed
        follow(mailbox.acknowledged(named.sorted()))
        follow(mailbox.sessionOpened(now: now))
        connection = Connection()
        // The login's answer confirms what it named.
        unconfirmed = []
    }

    mutating func cut() {
        if let connection { earlier = connection }
        connection = nil
    }

    mutating func loseAcknowledgement() {
        guard connection?.toServer.isEmpty == false else { return }
        // Nothing overtakes on a connection: what is lost is lost with it.
        connection = nil
    }

    mutating func repeatAcknowledgement() {
        guard let ids = connection?.toServer.last else { return }
        connection?.toServer.append(ids)
    }

    /// The device stays, until nothing waits for it any more; then everything has to be in its place.
    mutating func settle() {
        guard faults.isEmpty else { return }
        connect()
        var rounds = 0
        while faults.isEmpty, rounds < 400 {
            rounds += 1
            write()
            read()
            takeAcknowledgement(ofEarlier: false)
            guard let connection, connection.toDevice.isEmpty, connection.toServer.isEmpty else { continue }
            follow(mailbox.expired(now: now))
            if rows.isEmpty, tombstones.isEmpty, recalls.isEmpty { break }
        }
        if mailbox.count > 0 || !rows.isEmpty { fault("\(rows.map(\.id)) still wait") }
        if !tombstones.isEmpty || !recalls.isEmpty { fault("the device was not told everything") }
        for entry in accepted where ends[entry.id] == nil { fault("\(entry.id) has no end") }
        let seen = Set(shown)
        if seen.count != shown.count { fault("something was shown twice") }
        for (id, state) in ends where state == .acked && !seen.contains(id) { fault("\(id) is lost") }
        if !visible.isDisjoint(with: recalled) { fault("what was withdrawn is still seen") }
        if cleared != told { fault("\(cleared) were cleared, and \(told) were told") }
    }
}
