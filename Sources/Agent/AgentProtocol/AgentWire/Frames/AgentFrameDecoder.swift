/// Cuts a stream of bytes into frames, whatever pieces it arrives in.
///
/// Guarantees: it never holds more than one unfinished frame besides the bytes appended since ``next()`` last answered
/// `nil`. After an error it stays in error, because the stream can no longer be cut.
public struct AgentFrameDecoder: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var failure: AgentFrameError?

    /// Begins at the start of a stream.
    public init() {}

    /// Takes the next piece of the stream. Call ``next()`` until it answers `nil` before the next piece.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        guard failure == nil else { return }
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The body of the next whole frame; `nil` when more bytes are needed.
    ///
    /// - Throws: ``AgentFrameError/tooLong(length:)`` as soon as a frame's length is known to be too great,
    ///   before any of its text is kept.
    public mutating func next() throws(AgentFrameError) -> [UInt8]? {
        if let failure { throw failure }
        let available = buffer.count - start
        guard available >= AgentFrame.headerLength else { return nil }
        let bodyStart = start + AgentFrame.headerLength
        let length = buffer[start..<bodyStart].reduce(0) { $0 << 8 | Int($1) }
        guard length <= AgentFrame.maximumLength else {
            let error = AgentFrameError.tooLong(length: length)
            failure = error
            buffer = []
            start = 0
            throw error
        }
        guard available >= AgentFrame.headerLength + length else { return nil }
        start = bodyStart + length
        return Array(buffer[bodyStart..<start])
    }
}
