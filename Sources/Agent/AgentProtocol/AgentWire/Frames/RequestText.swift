/// The JSON text that a request was read from, so that it can be stored without encoding it again.
public struct RequestText: Sendable {
    private let bytes: ArraySlice<UInt8>
    private let contentPlace: Range<Int>
    private let triggerPlace: Range<Int>?

    /// - Parameter bytes: A text that a decoder has read as a request.
    /// - Returns: `nil` where it is not plain which member is which; then the text must be written anew.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let members = JSONMembers.find(in: bytes), let content = members["content"] else { return nil }
        self.bytes = bytes
        contentPlace = content
        triggerPlace = members["trigger"]
    }

    /// How many bytes it has.
    public var count: Int { bytes.count }
    /// The whole request.
    public var whole: String { String(decoding: bytes, as: UTF8.self) }
    /// The content's JSON text.
    public var content: String { String(decoding: bytes[contentPlace], as: UTF8.self) }
    /// The trigger's JSON text; `nil` or `null` for "at once".
    public var trigger: String? { triggerPlace.map { String(decoding: bytes[$0], as: UTF8.self) } }
}

extension NotificationRequest {
    /// Reads a request, and keeps its text.
    ///
    /// - Throws: ``AgentFrameError/malformed(_:)`` for a text that is no request.
    public init(json: [UInt8]) throws(AgentFrameError) {
        self = try AgentFrame.decode(Self.self, from: json)
        text = RequestText(json[...])
    }

    /// How many bytes of JSON it is: those that it was read from, else those that it would be.
    ///
    /// - Throws: ``AgentFrameError`` for what no message can carry.
    public func size() throws(AgentFrameError) -> Int {
        if let text { return text.count }
        return try AgentFrame.encode(self).count - AgentFrame.headerLength
    }
}

extension AppMessage {
    /// Has the request in it, if there is one, keep its text.
    mutating func keepText(of frame: [UInt8]) {
        let text = { () -> RequestText? in
            guard let request = JSONMembers.find(in: frame[...])?["notification"] else { return nil }
            // Of a long frame the request alone is kept.
            return RequestText(Array(frame[request])[...])
        }
        switch self {
        case .center(let number, .add(var request)):
            request.text = text()
            self = .center(request: number, .add(request))
        case .manage(let number, .notify(var request, let waits)):
            request.text = text()
            self = .manage(request: number, .notify(request, waits: waits))
        default: break
        }
    }
}
