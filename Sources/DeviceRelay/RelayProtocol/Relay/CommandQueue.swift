import Foundation

/// A queue that limits how many commands are in progress, and holds the others until some have ended. A value.
///
/// Guarantees: no more commands are in progress than ``Limit`` allows. Queued commands keep their order among a
/// client's separate commands for one device, and among those over one connection. Clients whose commands are held by
/// the same limit are served in rotation. At most ``waitingLimit`` commands of one client are queued, with
/// ``sizeLimit`` bytes. A step costs the same however many are queued.
public struct CommandQueue: Sendable {
    /// A limit on the number of commands in progress.
    public enum Limit: Hashable, Sendable {
        /// The limit on the commands of one client.
        case client(ClientNumber)
        /// The limit on the commands for one device.
        case device(String)
        /// The limit on the commands over one connection.
        case connection(UUID)

        /// The most commands in progress.
        public var most: Int {
            switch self {
            case .client: 64
            case .device: 256
            case .connection: 32
            }
        }

        /// The limit in words, for the client that is held by it.
        public var words: String {
            switch self {
            case .client: "this app has \(most) commands under way"
            case .device: "\(most) commands are under way to this device"
            case .connection: "\(most) commands are under way over this connection"
            }
        }
    }

    /// The result of entering a command.
    public enum Entry: Hashable, Sendable {
        /// The command is in progress.
        case begun
        /// The command waits until ``next()`` names it.
        case waits
        /// The command can not wait either, and was not entered: so many commands, or bytes, wait already.
        case full(Limit)
    }

    /// How many commands of one client wait at most.
    public static var waitingLimit: Int { 1024 }
    /// How many bytes of one client's commands wait at most.
    public static var sizeLimit: Int { 16 << 20 }
    /// How many bytes of all clients' commands wait at most.
    public static var totalSizeLimit: Int { 64 << 20 }

    /// The key of commands that keep their order.
    private struct Lane: Hashable {
        var client: ClientNumber
        /// The device, for what is asked by itself.
        var device: String
        var connection: UUID?
    }

    private struct Ticket: Hashable {
        var id: UUID
        /// The number that distinguishes a command from an earlier one of the same id, which is no longer queued.
        var number: Int64
    }

    private struct Waiting {
        /// The tickets in order, including some that no longer wait.
        var tickets: ArraySlice<Ticket> = []
        /// How many of them wait.
        var count = 0
        /// The limit that holds the first one.
        var limit: Limit
    }

    private struct Place {
        var lane: Lane
        var size: Int
        /// The ticket's number while the command is queued; `nil` for one in progress.
        var number: Int64?
    }

    private var places: [UUID: Place] = [:]
    private var counts: [Limit: Int] = [:]
    private var lanes: [Lane: Waiting] = [:]
    /// The lanes whose first command is held by a limit, in the order in which they are served.
    private var blocked: [Limit: ArraySlice<Lane>] = [:]
    /// The limits under which a command has ended, so that others may start.
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

    /// The queued commands of a lane, in order.
    func waiting(of client: ClientNumber, for device: String, over connection: UUID) -> [UUID] {
        let lane = Lane(client: client, device: device, connection: connection)
        return lanes[lane]?.tickets.filter { places[$0.id]?.number == $0.number }.map(\.id) ?? []
    }

    /// The limit that holds a command; `nil` for one that is not queued.
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

    /// A command has ended, whether it was queued or in progress.
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

    /// The next command that may be sent, which is in progress from then on; `nil` where none may.
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
