import Foundation

/// Which commands may be under way, and which wait until others have ended. A value.
///
/// Guarantees: no more are under way than ``Limit`` allows; what waits leaves in its order among what one client asks of one device
/// by itself, and among what it asks over one connection; clients whose commands wait for the same take turns; at most
/// ``waitingLimit`` commands of one client wait, with ``sizeLimit`` bytes. A step costs the same however many wait.
public struct CommandQueue: Sendable {
    /// What bounds how many commands are under way.
    public enum Limit: Hashable, Sendable {
        /// Those of one client.
        case client(ClientNumber)
        /// Those for one device.
        case device(String)
        /// Those over one connection.
        case connection(UUID)

        /// How many may be under way.
        public var most: Int {
            switch self {
            case .client: 64
            case .device: 256
            case .connection: 32
            }
        }

        /// The limit in words, for who waits for it.
        public var words: String {
            switch self {
            case .client: "this app has \(most) commands under way"
            case .device: "\(most) commands are under way to this device"
            case .connection: "\(most) commands are under way over this connection"
            }
        }
    }

    /// What comes of a command that is entered.
    public enum Entry: Hashable, Sendable {
        /// It is under way.
        case begun
        /// It waits until ``next()`` names it.
        case waits
        /// It can not wait either, and was not entered: so many commands, or bytes, wait already.
        case full(Limit)
    }

    /// How many commands of one client wait at most.
    public static var waitingLimit: Int { 1024 }
    /// How many bytes of one client's commands wait at most.
    public static var sizeLimit: Int { 16 << 20 }
    /// How many bytes of all clients' commands wait at most.
    public static var totalSizeLimit: Int { 64 << 20 }

    /// What is to leave in its order.
    private struct Lane: Hashable {
        var client: ClientNumber
        /// The device, for what is asked by itself.
        var device: String
        var connection: UUID?
    }

    private struct Ticket: Hashable {
        var id: UUID
        /// Tells a command from an earlier one of the same id, which waits no more.
        var number: Int64
    }

    private struct Waiting {
        /// In order; among them such as wait no more.
        var tickets: ArraySlice<Ticket> = []
        /// How many of them wait.
        var count = 0
        /// What the first one waits for.
        var limit: Limit
    }

    private struct Place {
        var lane: Lane
        var size: Int
        /// The ticket's number while it waits; `nil` for one that is under way.
        var number: Int64?
    }

    private var places: [UUID: Place] = [:]
    private var counts: [Limit: Int] = [:]
    private var lanes: [Lane: Waiting] = [:]
    /// Whose first command waits for a limit, by turns.
    private var blocked: [Limit: ArraySlice<Lane>] = [:]
    /// Where something has ended, and others may go on.
    private var freed: ArraySlice<Limit> = []
    private var waitingOf: [ClientNumber: (count: Int, size: Int)] = [:]
    private var totalSize = 0
    private var lastNumber: Int64 = 0

    /// A queue without commands.
    public init() {}

    /// How many commands wait.
    public var waitingCount: Int { waitingOf.values.reduce(0) { $0 + $1.count } }

    /// Whether a command waits.
    public func isWaiting(_ id: UUID) -> Bool { places[id]?.number != nil }

    /// What waits of a lane's commands, in order.
    func waiting(of client: ClientNumber, for device: String, over connection: UUID) -> [UUID] {
        let lane = Lane(client: client, device: device, connection: connection)
        return lanes[lane]?.tickets.filter { places[$0.id]?.number == $0.number }.map(\.id) ?? []
    }

    /// What a command waits for; `nil` for one that does not wait.
    public func limit(of id: UUID) -> Limit? {
        places[id].flatMap { $0.number == nil ? nil : lanes[$0.lane]?.limit }
    }

    /// Enters a command of an id that is not in here.
    ///
    /// - Parameter size: How many bytes are kept while it waits.
    public mutating func enter(
        _ id: UUID, of client: ClientNumber, for device: String, over connection: UUID?, size: Int
    ) -> Entry {
        let lane = Lane(client: client, device: device, connection: connection)
        guard let limit = lanes[lane]?.limit ?? full(lane) else {
            places[id] = Place(lane: lane, size: size)
            count(lane)
            return .begun
        }
        let sum = waitingOf[client] ?? (0, 0)
        guard sum.count < Self.waitingLimit, sum.size + size <= Self.sizeLimit,
            totalSize + size <= Self.totalSizeLimit
        else { return .full(limit) }
        lastNumber += 1
        places[id] = Place(lane: lane, size: size, number: lastNumber)
        if lanes[lane] == nil {
            lanes[lane] = Waiting(limit: limit)
            blocked[limit, default: []].append(lane)
        }
        lanes[lane]?.tickets.append(Ticket(id: id, number: lastNumber))
        lanes[lane]?.count += 1
        waitingOf[client] = (sum.count + 1, sum.size + size)
        totalSize += size
        return .waits
    }

    /// A command has ended, whether it waited or was under way.
    public mutating func leave(_ id: UUID) {
        guard let place = places.removeValue(forKey: id) else { return }
        guard place.number != nil else {
            if let connection = place.lane.connection { free(.connection(connection)) }
            free(.device(place.lane.device))
            free(.client(place.lane.client))
            return
        }
        waitsNoMore(place)
        lanes[place.lane]?.count -= 1
        guard let lane = lanes[place.lane] else { return }
        if lane.count == 0 {
            remove(place.lane, from: lane.limit)
        } else if lane.tickets.count > 2 * lane.count + 8 {
            lanes[place.lane]?.tickets.removeAll { places[$0.id]?.number != $0.number }
        }
    }

    /// The next command that may leave now, which is under way from then on; `nil` where none may.
    public mutating func next() -> UUID? {
        while let limit = freed.first {
            guard let lane = blocked[limit]?.first, counts[limit, default: 0] < limit.most else {
                freed.removeFirst()
                continue
            }
            unblock(limit)
            if let other = full(lane) {
                block(lane, by: other)
                continue
            }
            guard let id = takeFirst(of: lane) else { continue }
            if lanes[lane] != nil { block(lane, by: full(lane) ?? limit) }
            return id
        }
        return nil
    }

    // MARK: Steps

    /// The narrowest first: what waits for the widest must not hold back what waits for another.
    private func full(_ lane: Lane) -> Limit? {
        if let connection = lane.connection, isFull(.connection(connection)) { return .connection(connection) }
        if isFull(.device(lane.device)) { return .device(lane.device) }
        return isFull(.client(lane.client)) ? .client(lane.client) : nil
    }

    private func isFull(_ limit: Limit) -> Bool { counts[limit, default: 0] >= limit.most }

    private mutating func count(_ lane: Lane) {
        if let connection = lane.connection { counts[.connection(connection), default: 0] += 1 }
        counts[.device(lane.device), default: 0] += 1
        counts[.client(lane.client), default: 0] += 1
    }

    private mutating func free(_ limit: Limit) {
        let count = counts[limit, default: 0] - 1
        counts[limit] = count > 0 ? count : nil
        if blocked[limit] != nil { freed.append(limit) }
    }

    private mutating func block(_ lane: Lane, by limit: Limit) {
        lanes[lane]?.limit = limit
        blocked[limit, default: []].append(lane)
    }

    private mutating func unblock(_ limit: Limit) {
        blocked[limit]?.removeFirst()
        if blocked[limit]?.isEmpty == true { blocked[limit] = nil }
    }

    private mutating func remove(_ lane: Lane, from limit: Limit) {
        lanes[lane] = nil
        blocked[limit]?.removeAll { $0 == lane }
        if blocked[limit]?.isEmpty == true { blocked[limit] = nil }
    }

    private mutating func takeFirst(of lane: Lane) -> UUID? {
        while let ticket = lanes[lane]?.tickets.popFirst() {
            guard let place = places[ticket.id], place.number == ticket.number else { continue }
            waitsNoMore(place)
            places[ticket.id]?.number = nil
            count(lane)
            lanes[lane]?.count -= 1
            if lanes[lane]?.count == 0 { lanes[lane] = nil }
            return ticket.id
        }
        lanes[lane] = nil
        return nil
    }

    private mutating func waitsNoMore(_ place: Place) {
        totalSize -= place.size
        let sum = waitingOf[place.lane.client] ?? (0, 0)
        let rest = (count: sum.count - 1, size: sum.size - place.size)
        waitingOf[place.lane.client] = rest.count > 0 ? rest : nil
    }
}
