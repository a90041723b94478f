/// A call of a method by its name. Source: `StandardMethodCodec`, Flutter's API reference.
public struct StandardMethodCall: Hashable, Sendable {
    /// The method's name.
    public var method: String
    /// The arguments of the call; null where there are none.
    public var arguments: StandardValue

    /// Makes a call.
    public init(_ method: String, _ arguments: StandardValue = .null) {
        self.method = method
        self.arguments = arguments
    }

    /// Reads a call. - Throws: ``StandardCodecError``.
    public init(message: [UInt8]) throws(StandardCodecError) {
        var reader = StandardReader(message)
        guard case .string(let method) = try reader.read() else { throw .noMethodName }
        self.init(method, try reader.read())
        try reader.end()
    }

    /// The call as one message.
    public var message: [UInt8] {
        var writer = StandardWriter()
        writer.write(.string(method))
        writer.write(arguments)
        return writer.bytes
    }
}

/// The reply to a call. Source: `StandardMethodCodec`, Flutter's API reference.
public enum StandardMethodReply: Hashable, Sendable {
    /// The result; null where there is none.
    case success(StandardValue)
    /// The method failed: a code for programs, a sentence for people, and anything else.
    case failure(code: String, message: String?, details: StandardValue)
    /// No handler is registered for calls of that name.
    case notImplemented

    /// Reads a reply. A stack trace after an error, as Android's engine writes it, is passed over.
    ///
    /// - Throws: ``StandardCodecError``.
    public init(message: [UInt8]) throws(StandardCodecError) {
        guard let envelope = message.first else {
            self = .notImplemented
            return
        }
        var reader = StandardReader(message, from: 1)
        switch envelope {
        case 0: self = .success(try reader.read())
        case 1: self = try Self.failure(&reader)
        default: throw .unknownEnvelope(envelope)
        }
        try reader.end()
    }

    private static func failure(_ reader: inout StandardReader) throws(StandardCodecError) -> Self {
        guard case .string(let code) = try reader.read() else { throw .malformedError }
        let sentence: String?
        switch try reader.read() {
        case .string(let text): sentence = text
        case .null: sentence = nil
        default: throw .malformedError
        }
        let details = try reader.read()
        if !reader.isAtEnd, case let trace = try reader.read() {
            guard trace == .null || { if case .string = trace { true } else { false } }() else { throw .malformedError }
        }
        return .failure(code: code, message: sentence, details: details)
    }

    /// The reply as one message; empty for ``notImplemented``.
    public var message: [UInt8] {
        switch self {
        case .success(let result):
            var writer = StandardWriter(prefix: [0])
            writer.write(result)
            return writer.bytes
        case .failure(let code, let sentence, let details):
            var writer = StandardWriter(prefix: [1])
            writer.write(.string(code))
            writer.write(sentence.map(StandardValue.string) ?? .null)
            writer.write(details)
            return writer.bytes
        case .notImplemented: return []
        }
    }
}
