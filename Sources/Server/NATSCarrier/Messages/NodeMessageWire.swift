import PushCore
import PushServer

/// The bytes of messages between nodes: a version, and then each message as its kind and its fields.
///
/// Numbers are big-endian; a text is its length in four bytes, and UTF-8; what may be absent has a byte before it.
package enum NodeMessageWire {
    /// An error: bytes that are no messages.
    package struct Malformed: Error, Hashable {}

    private static let version: UInt8 = 1

    /// Encodes messages in batches of at most about `limit` bytes; a larger message is alone in its batch.
    package static func encode(_ messages: [NodeMessage], limit: Int) -> [[UInt8]] {
        var batches: [[UInt8]] = []
        var writer = Writer()
        for message in messages {
            var one = Writer()
            one.write(message)
            if !writer.bytes.isEmpty, writer.bytes.count + one.bytes.count > limit {
                batches.append([version] + writer.bytes)
                writer = Writer()
            }
            writer.bytes += one.bytes
        }
        if !writer.bytes.isEmpty { batches.append([version] + writer.bytes) }
        return batches
    }

    /// Decodes a batch.
    ///
    /// - Throws: ``Malformed``.
    package static func decode(_ bytes: [UInt8]) throws(Malformed) -> [NodeMessage] {
        var reader = Reader(bytes: bytes[...])
        guard try reader.byte() == version else { throw Malformed() }
        var messages: [NodeMessage] = []
        while !reader.bytes.isEmpty { messages.append(try reader.message()) }
        return messages
    }

    /// The kinds of messages, by their first byte.
    private enum Kind: UInt8 {
        case deliver = 1
        case wake = 2
        case attempt = 3
        case heartbeat = 4
        case system = 5
    }

    private struct Writer {
        var bytes: [UInt8] = []

        mutating func write(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func write(_ text: String) { write(Array(text.utf8)) }

        mutating func write(_ content: [UInt8]) {
            write(UInt32(content.count))
            bytes += content
        }

        mutating func write<Value>(_ value: Value?, _ body: (inout Writer, Value) -> Void) {
            write(UInt8(value == nil ? 0 : 1))
            if let value { body(&self, value) }
        }

        mutating func write(_ message: NodeMessage) {
            switch message {
            case .deliver(let notifications, let device, let epoch, let revision):
                write(Kind.deliver.rawValue)
                write(device.rawValue)
                write(epoch)
                write(revision)
                write(UInt32(notifications.count))
                for notification in notifications { write(notification) }
            case .wake(let device):
                write(Kind.wake.rawValue)
                write(device.rawValue)
            case .attempt(let attempt):
                write(Kind.attempt.rawValue)
                write(attempt)
            case .heartbeat: write(Kind.heartbeat.rawValue)
            case .system(let system, let bytes):
                write(Kind.system.rawValue)
                write(system.rawValue)
                write(bytes)
            }
        }

        mutating func write(_ notification: OutgoingNotification) {
            write(notification.id.rawValue)
            write(notification.apnsID.rawValue)
            write(notification.team.rawValue)
            write(notification.topic.rawValue)
            write(notification.environment.rawValue)
            write(notification.lane.rawValue)
            write(notification.pushType) { $0.write($1.rawValue) }
            write(notification.priority.rawValue)
            write(notification.collapseID) { $0.write($1) }
            write(notification.acceptedAt.rawValue)
            write(notification.expiresAt) { $0.write($1.rawValue) }
            write(notification.payload)
        }

        mutating func write(_ attempt: NodeAttempt) {
            let (record, subject) = (attempt.record, attempt.record.subject)
            write(attempt.outgoing)
            write(subject.cell)
            write(subject.device.rawValue)
            write(subject.app.rawValue)
            write(subject.generation)
            write(UInt8(record.apnsID == nil ? 0 : 1))
            write(record.note) { $0.write($1) }
        }
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func byte() throws(Malformed) -> UInt8 {
            guard let byte = bytes.popFirst() else { throw Malformed() }
            return byte
        }

        mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(Malformed) -> Number {
            let size = Number.bitWidth / 8
            guard bytes.count >= size else { throw Malformed() }
            defer { bytes = bytes.dropFirst(size) }
            return bytes.prefix(size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }

        mutating func content() throws(Malformed) -> [UInt8] {
            let count = Int(try number(UInt32.self))
            guard bytes.count >= count else { throw Malformed() }
            defer { bytes = bytes.dropFirst(count) }
            return Array(bytes.prefix(count))
        }

        mutating func text() throws(Malformed) -> String {
            guard let text = String(validating: try content(), as: UTF8.self) else { throw Malformed() }
            return text
        }

        mutating func optional<Value>(_ body: (inout Reader) throws(Malformed) -> Value) throws(Malformed) -> Value? {
            switch try byte() {
            case 0: nil
            case 1: try body(&self)
            default: throw Malformed()
            }
        }

        /// A value that is made from its bytes; `nil` for bytes that are none.
        mutating func known<Raw, Value>(_ raw: Raw, _ make: (Raw) -> Value?) throws(Malformed) -> Value {
            guard let value = make(raw) else { throw Malformed() }
            return value
        }

        mutating func device() throws(Malformed) -> DeviceID { try known(try number(), DeviceID.init) }

        mutating func message() throws(Malformed) -> NodeMessage {
            switch try known(try byte(), Kind.init) {
            case .deliver:
                let (device, epoch, revision) = (try device(), try number(UInt64.self), try number(Int64.self))
                let count = try number(UInt32.self)
                // Each notification has more bytes than one.
                guard count <= bytes.count else { throw Malformed() }
                var notifications: [OutgoingNotification] = []
                for _ in 0..<count { notifications.append(try notification()) }
                return .deliver(notifications, to: device, epoch: epoch, revision: revision)
            case .wake: return .wake(try device())
            case .attempt: return .attempt(try attempt())
            case .heartbeat: return .heartbeat
            case .system: return .system(try known(try byte(), NodeMessageCategory.init), try content())
            }
        }

        mutating func notification() throws(Malformed) -> OutgoingNotification {
            OutgoingNotification(
                id: NotificationID(rawValue: try number()), apnsID: APNsID(rawValue: try text()),
                team: TeamID(rawValue: try text()), topic: Topic(rawValue: try text()),
                environment: try known(try text(), PushEnvironment.init), lane: try known(try byte(), Lane.init),
                pushType: try optional { reader throws(Malformed) in try reader.known(try reader.text(), PushType.init)
                },
                priority: try known(try byte(), Priority.init),
                collapseID: try optional { reader throws(Malformed) in try reader.text() },
                acceptedAt: Timestamp(rawValue: try number()),
                expiresAt: try optional { reader throws(Malformed) in Timestamp(rawValue: try reader.number()) },
                payload: try content())
        }

        mutating func attempt() throws(Malformed) -> NodeAttempt {
            let notification = try notification()
            let (cell, device) = (try number(UInt16.self), try device())
            let (app, generation) = (AppID(rawValue: try number()), try number(UInt16.self))
            let isNamed = try byte()
            guard isNamed < 2 else { throw Malformed() }
            let note = try optional { reader throws(Malformed) in try reader.text() }
            let record = NotificationRecord(
                id: notification.id,
                subject: TokenSubject(
                    cell: cell, device: device, app: app, environment: notification.environment, generation: generation),
                apnsID: isNamed == 1 ? notification.apnsID : nil, pushType: notification.pushType,
                priority: notification.priority, collapseID: notification.collapseID,
                acceptedAt: notification.acceptedAt, expiresAt: nil, waits: false, lane: notification.lane,
                payload: .own(notification.payload), note: note)
            return NodeAttempt(record, team: notification.team, topic: notification.topic)
        }
    }
}
