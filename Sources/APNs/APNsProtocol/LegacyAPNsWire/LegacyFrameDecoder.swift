import PushCore

/// Cuts a stream of bytes into pushes, whatever pieces it arrives in.
///
/// After an error it stays in error, because the stream can no longer be cut. An error is thrown as soon as it is
/// certain, before the rest of its frame has come.
package struct LegacyFrameDecoder: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var failure: LegacyError?

    /// Longer frames of items are refused unread: an item of the greatest length, and the others beside it, fit.
    package static let maximumFrame = 66_000

    /// Begins at the start of a stream.
    package init() {}

    /// Whether the stream has ended inside a frame, if it has ended.
    package var isInsideFrame: Bool { start < buffer.count }

    /// Takes the next piece of the stream.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        guard failure == nil else { return }
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next push; `nil` when more bytes are needed.
    package mutating func next() throws(LegacyError) -> LegacyPush? {
        if let failure { throw failure }
        do throws(LegacyError) {
            var reader = LegacyReader(bytes: buffer[start...])
            guard let push = try Self.push(&reader) else { return nil }
            start = buffer.count - reader.bytes.count
            return push
        } catch {
            failure = error
            buffer = []
            start = 0
            throw error
        }
    }

    private static func push(_ reader: inout LegacyReader) throws(LegacyError) -> LegacyPush? {
        guard let command = reader.number(1) else { return nil }
        switch LegacyCommand(rawValue: UInt8(truncatingIfNeeded: command)) {
        case .simple: return try classic(&reader, identifier: 0, expiration: nil)
        case .enhanced:
            guard let identifier = reader.number(4), let expiration = reader.number(4) else { return nil }
            return try classic(&reader, identifier: identifier, expiration: expiration)
        case .items:
            guard let length = reader.number(4) else { return nil }
            guard length <= maximumFrame else {
                throw LegacyError(
                    .invalidPayloadSize, note: "a frame of \(length) bytes, at most \(maximumFrame) are looked at")
            }
            guard let items = reader.take(Int(length)) else { return nil }
            return try LegacyItems(LegacyReader(bytes: items)).push()
        case nil:
            throw LegacyError(
                .protocolError, note: "a frame begins with byte \(command): this port takes commands 0, 1 and 2 alone")
        }
    }

    /// Token and payload as commands 0 and 1 have them.
    private static func classic(
        _ reader: inout LegacyReader, identifier: UInt32, expiration: UInt32?
    ) throws(LegacyError) -> LegacyPush? {
        guard let tokenLength = reader.number(2) else { return nil }
        try LegacyItems.checkToken(Int(tokenLength), identifier)
        guard let token = reader.take(Int(tokenLength)), let payloadLength = reader.number(2) else { return nil }
        try LegacyItems.checkPayload(Int(payloadLength), identifier)
        guard let payload = reader.take(Int(payloadLength)) else { return nil }
        return LegacyPush(
            identifier: identifier, token: Array(token), payload: Array(payload), expiration: expiration)
    }
}

/// Takes bytes off the front; what is not there yet is `nil`.
struct LegacyReader {
    var bytes: ArraySlice<UInt8>

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    /// A number of one, two or four bytes.
    mutating func number(_ count: Int) -> UInt32? { take(count).map(BigEndian.number) }
}

/// The items of one frame of command 2.
struct LegacyItems {
    private var token: ArraySlice<UInt8>?
    private var payload: ArraySlice<UInt8>?
    private var identifier: UInt32?
    private var expiration: UInt32?
    private var priority: ArraySlice<UInt8>?
    /// The first fault. It is reported once all items are read, since the identifier may follow it.
    private var fault: String?

    /// Reads all items, in any order.
    init(_ frame: LegacyReader) {
        var reader = frame
        while !reader.bytes.isEmpty {
            guard let id = reader.number(1), let length = reader.number(2), let data = reader.take(Int(length)) else {
                fault = fault ?? "an item is longer than its frame"
                return
            }
            take(id, data)
        }
    }

    private mutating func take(_ id: UInt32, _ data: ArraySlice<UInt8>) {
        func number(_ known: UInt32?) -> UInt32? {
            guard data.count == 4, known == nil else {
                fault = fault ?? "item \(id) has \(data.count) bytes or comes twice; it comes once, with 4"
                return known
            }
            return BigEndian.number(data)
        }
        func once(_ known: ArraySlice<UInt8>?) -> ArraySlice<UInt8> {
            if known != nil { fault = fault ?? "item \(id) comes twice" }
            return known ?? data
        }
        switch id {
        case 1: token = once(token)
        case 2: payload = once(payload)
        case 3: identifier = number(identifier)
        case 4: expiration = number(expiration)
        case 5: priority = once(priority)
        default: fault = fault ?? "there is no item \(id); 1 to 5 are known"
        }
    }

    /// The push that the items make.
    func push() throws(LegacyError) -> LegacyPush {
        let identifier = identifier ?? 0
        if let fault { throw LegacyError(.protocolError, identifier: identifier, note: fault) }
        try Self.checkToken(token?.count ?? 0, identifier)
        try Self.checkPayload(payload?.count ?? 0, identifier)
        var level: Priority?
        if let priority {
            level = priority.count == 1 ? priority.first.flatMap(Priority.init) : nil
            guard level == .immediate || level == .considerate else {
                throw LegacyError(.protocolError, identifier: identifier, note: "the priority is neither 10 nor 5")
            }
        }
        return LegacyPush(
            identifier: identifier, token: Array(token ?? []), payload: Array(payload ?? []), expiration: expiration,
            priority: level)
    }

    static func checkToken(_ length: Int, _ identifier: UInt32) throws(LegacyError) {
        guard length > 0 else {
            throw LegacyError(.missingDeviceToken, identifier: identifier, note: "there is no device token")
        }
        guard length == LegacyPush.tokenLength else {
            throw LegacyError(
                .invalidTokenSize, identifier: identifier,
                note: "the device token has \(length) bytes; it has 32, so its 64 digits must be packed")
        }
    }

    static func checkPayload(_ length: Int, _ identifier: UInt32) throws(LegacyError) {
        guard length > 0 else {
            throw LegacyError(.missingPayload, identifier: identifier, note: "there is no payload")
        }
        guard length <= LegacyPush.maximumPayload else {
            throw LegacyError(
                .invalidPayloadSize, identifier: identifier,
                note: "the payload has \(length) bytes, at most \(LegacyPush.maximumPayload) are allowed")
        }
    }
}
