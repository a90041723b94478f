/// A frame of the NATS client protocol that a server sends ("Client Protocol", docs.nats.io).
package enum NATSFrame: Hashable, Sendable {
    /// The server's properties, a JSON object.
    case info([UInt8])
    /// A message of a subscription.
    case message(NATSMessage)
    /// A question whether the client is there.
    case ping
    /// The answer to a ping.
    case pong
    /// The acknowledgement of a command, of servers that are verbose.
    case ok
    /// An error, such as `Authorization Violation`.
    case error(String)
}

/// A message of a subscription.
package struct NATSMessage: Hashable, Sendable {
    /// The subject to which it was published.
    package var subject: String
    /// The number that the client gave to the subscription.
    package var subscription: String
    /// The subject to which an answer is published; `nil` where none is expected.
    package var reply: String?
    /// The status of a message without a sender, such as 503 where nothing is subscribed to the subject.
    package var status: Int?
    /// The content.
    package var payload: [UInt8]
}

/// An error: bytes that are no frame.
package struct NATSFrameError: Error, Hashable, CustomStringConvertible {
    /// The fault.
    package var description: String
}

/// Decodes the frames of a NATS server from bytes that arrive in any pieces. A value.
package struct NATSFrameDecoder: Sendable {
    /// The maximum length of a line, which has the properties of a server.
    package static let lineLimit = 64 * 1024
    /// The maximum size of a message's payload and headers.
    package static let payloadLimit = 8 * 1024 * 1024

    private var bytes: [UInt8] = []
    private var start = 0
    /// The message whose payload is awaited, and the sizes of its headers and of all of it.
    private var open: (message: NATSMessage, headers: Int, size: Int)?

    /// Creates a decoder that has no bytes.
    package init() {}

    /// Adds bytes.
    package mutating func append(_ more: some Sequence<UInt8>) {
        if start > 0, start == bytes.count || start > 1 << 16 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The next frame; `nil` until its last byte has arrived.
    ///
    /// - Throws: ``NATSFrameError``; what follows cannot be decoded.
    package mutating func next() throws(NATSFrameError) -> NATSFrame? {
        if open != nil { return try nextPayload() }
        guard let end = lineEnd() else {
            guard bytes.count - start <= Self.lineLimit else { throw NATSFrameError(description: "a line is too long") }
            return nil
        }
        let line = String(decoding: bytes[start..<end], as: UTF8.self)
        start = end + 2
        return try frame(line)
    }

    private func lineEnd() -> Int? {
        var index = start
        while index + 1 < bytes.count {
            if bytes[index] == 13, bytes[index + 1] == 10 { return index }
            index += 1
        }
        return nil
    }

    private mutating func frame(_ line: String) throws(NATSFrameError) -> NATSFrame? {
        let verb = line.prefix { $0 != " " && $0 != "\t" }
        let rest = line.dropFirst(verb.count).drop { $0 == " " || $0 == "\t" }
        switch verb.uppercased() {
        case "INFO": return .info(Array(rest.utf8))
        case "PING": return .ping
        case "PONG": return .pong
        case "+OK": return .ok
        case "-ERR": return .error(rest.trimmingQuotes)
        case "MSG": return try begin(rest, hasHeaders: false)
        case "HMSG": return try begin(rest, hasHeaders: true)
        default: throw NATSFrameError(description: "the verb \"\(verb.prefix(16))\" is not known")
        }
    }

    private mutating func begin(_ rest: Substring, hasHeaders: Bool) throws(NATSFrameError) -> NATSFrame? {
        let words = rest.split { $0 == " " || $0 == "\t" }.map(String.init)
        let numbers = hasHeaders ? 2 : 1
        guard (2 + numbers...3 + numbers).contains(words.count), let size = Int(words[words.count - 1]),
            let headers = hasHeaders ? Int(words[words.count - 2]) : 0,
            (0...Self.payloadLimit).contains(size), (0...size).contains(headers)
        else { throw NATSFrameError(description: "a message's line is malformed") }
        let reply = words.count == 3 + numbers ? words[2] : nil
        open = (
            NATSMessage(subject: words[0], subscription: words[1], reply: reply, payload: []), headers, size
        )
        return try nextPayload()
    }

    private mutating func nextPayload() throws(NATSFrameError) -> NATSFrame? {
        guard let (opened, headers, size) = open, bytes.count - start >= size + 2 else { return nil }
        guard bytes[start + size] == 13, bytes[start + size + 1] == 10 else {
            throw NATSFrameError(description: "a message is longer than its line says")
        }
        var message = opened
        message.status = Self.status(bytes[start..<start + headers])
        message.payload = Array(bytes[start + headers..<start + size])
        start += size + 2
        open = nil
        return .message(message)
    }

    /// The status in the first line of headers, such as `NATS/1.0 503`.
    private static func status(_ headers: ArraySlice<UInt8>) -> Int? {
        let line = String(decoding: headers.prefix { $0 != 13 }, as: UTF8.self)
        guard line.hasPrefix("NATS/1.0 ") else { return nil }
        return Int(line.dropFirst(9).prefix(3))
    }
}

extension Substring {
    fileprivate var trimmingQuotes: String {
        var text = self
        if text.first == "'" { text = text.dropFirst() }
        if text.last == "'" { text = text.dropLast() }
        return String(text)
    }
}
