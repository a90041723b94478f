import Foundation

/// The frame that agent and apps exchange: four bytes of length, most significant first, then one JSON object, or a
/// zero byte and the bytes of a ``RelayPacket``.
public enum AgentFrame {
    /// The protocol's version; the first frame of each direction carries it.
    public static let version = 1
    /// The longest body that a frame may have, in bytes: 1 MiB.
    public static let maximumLength = 1 << 20
    /// Bytes of length in front of every body.
    static let headerLength = 4

    /// The frame of one message.
    ///
    /// - Throws: ``AgentFrameError/tooLong(length:)`` when its JSON text is longer than ``maximumLength``;
    ///   ``AgentFrameError/malformed(_:)`` when it holds what JSON cannot say.
    public static func encode(_ message: some Encodable) throws(AgentFrameError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body: Data
        do {
            body = try encoder.encode(message)
        } catch {
            throw .malformed("a message that JSON cannot carry")
        }
        return try framed(body)
    }

    /// A body with its length in front.
    static func framed(_ body: some Collection<UInt8>) throws(AgentFrameError) -> [UInt8] {
        guard body.count <= maximumLength else { throw .tooLong(length: body.count) }
        var frame: [UInt8] = []
        frame.reserveCapacity(headerLength + body.count)
        for shift in stride(from: 24, through: 0, by: -8) {
            frame.append(UInt8(truncatingIfNeeded: body.count >> shift))
        }
        frame.append(contentsOf: body)
        return frame
    }

    /// Reads the JSON text of one frame, as ``AgentFrameDecoder`` hands it out.
    ///
    /// - Throws: ``AgentFrameError/malformed(_:)``, which names the member that is wrong.
    static func decode<Message: Decodable>(_ type: Message.Type, from body: [UInt8]) throws(AgentFrameError) -> Message
    {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch let error as DecodingError {
            throw .malformed(explain(error))
        } catch {
            throw .malformed("not a JSON object")
        }
    }

    private static func explain(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])): missing"
        case .valueNotFound(_, let context): "\(path(context.codingPath)): null"
        case .typeMismatch(_, let context) where context.codingPath.isEmpty: "the text is not a JSON object"
        case .typeMismatch(let type, let context): "\(path(context.codingPath)): not \(words(for: type))"
        // Foundation names no member where a number does not fit.
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            "the text is not JSON, or a number in it does not fit its member"
        case .dataCorrupted(let context): "\(path(context.codingPath)): not one of the allowed values"
        @unknown default: "the text cannot be read"
        }
    }

    /// Such as `actions[0].title`.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }

    /// The name of a type in JSON, for messages.
    private static func words(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is any Numeric.Type: "a number"
        case is [Any].Type: "a list"
        default: "an object"
        }
    }
}

/// Why bytes are not a frame, or a frame is not a message. The connection that carried them must be closed.
public enum AgentFrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The body is longer, or its declared length is greater, than ``AgentFrame/maximumLength``.
    case tooLong(length: Int)
    /// The text is not a valid message; the fault and its member.
    case malformed(String)

    public var description: String {
        switch self {
        case .tooLong(let length):
            "a frame of \(length) bytes; at most \(AgentFrame.maximumLength) are allowed"
        case .malformed(let what):
            "a frame that is not a message: \(what)"
        }
    }
}
