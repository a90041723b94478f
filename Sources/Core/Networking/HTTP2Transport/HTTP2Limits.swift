/// Sizes and limits of a session.
package struct HTTP2Limits: Sendable, Hashable {
    /// Streams the peer may have open at a time; announced in SETTINGS.
    package var concurrentStreams: UInt32 = 1000
    /// Bytes of one message's header names and values; announced in SETTINGS.
    package var headerBytes: Int = 8000
    /// How many times the limits of a header block a request may reach and still get an answer; beyond it its stream is reset.
    static let answeredExcess = 4
    /// Fields of one header block, trailers too. One byte on the wire can name a field of the dynamic table
    /// (RFC 7541, section 6.1), so bytes alone do not bound the work of a block.
    package var headerFields: Int = 64
    /// How many header blocks may go beyond the limits before a server says GOAWAY. HPACK makes each of them cost
    /// more than its bytes, since its fields must be decoded all the same.
    package var excessiveHeaderBlocks: Int = 4
    /// Bytes of one message's body that are kept; a longer body is reported as too large.
    package var bodyBytes: Int = 16 << 10
    /// Bytes of a body that is too large which are read and dropped before the response; beyond them the stream is reset.
    package var droppedBodyBytes: Int = 1 << 20
    /// Bytes of headers and bodies that all streams of a connection hold together; a stream that needs more is reset.
    package var heldBytes: Int = 2 << 20
    /// The cost of a stored header field beside its bytes.
    static let fieldOverhead = 16
    /// The connection's receive window.
    package var connectionWindow: Int32 = 1 << 20
    /// How many frames may wait to be written, without those of answers' bodies. A peer that causes more and reads
    /// none is cut off. It is more than all open streams need.
    package var waitingFrames: Int = 10_000

    /// The defaults, each as it stands at its property.
    package init() {}
}
