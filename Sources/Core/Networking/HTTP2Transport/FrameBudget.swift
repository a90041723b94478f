import NIOCore

/// The frames without work that a peer may still send on one connection: a value, without sockets.
///
/// A frame without work completes no request. Each costs a token, and a connection without tokens is closed. Completed requests
/// and time bring tokens back. An ordinary client stays far from the limit: it sends fewer than ``perRequest`` such
/// frames for a request, and between requests a PING every few seconds.
struct FrameBudget: Sendable {
    /// The highest number of tokens, with which a connection begins. A client that cancels all its open streams at once, each with a
    /// PING, needs half of them.
    static let capacity = 4000
    /// The tokens that a completed request brings back.
    static let perRequest = 8
    /// The tokens that a second brings back.
    static let perSecond = 10
    /// The length in bytes from which on a DATA frame is work by itself.
    static let smallestData = 16

    /// A kind of frames without work. A closed set, fit for a metric's label.
    enum Kind: String, Sendable, CaseIterable {
        /// WINDOW_UPDATE.
        case windowUpdate = "window_update"
        /// PRIORITY.
        case priority
        /// PING, acknowledgements among them.
        case ping
        /// SETTINGS, which cost a token for each setting: one may change the windows of all open streams.
        case settings
        /// RST_STREAM.
        case resetStream = "rst_stream"
        /// DATA that does not end its stream and is empty, shorter than ``FrameBudget/smallestData`` or padded.
        case smallData = "small_data"
        /// DATA on a stream that is closed.
        case lateData = "late_data"
        /// GOAWAY, and frames of kinds that the server does not know.
        case other
    }

    private(set) var tokens = Self.capacity
    private var filledAt: NIODeadline?
    private var scanner = FrameScanner()
    /// The greatest stream that has begun.
    private var newestStream: Int32 = 0

    /// Counts the frames that begin in received bytes.
    ///
    /// - Parameter isOpen: Whether a stream is open, before these bytes are looked at by anybody else.
    /// - Returns: The kind of the frame for which no token was left; `nil` while the peer is within its budget.
    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, at now: NIODeadline, isOpen: (Int32) -> Bool
    ) -> Kind? {
        fill(at: now)
        let begun = newestStream
        var excess: Kind?
        scanner.scan(bytes) { frame in
            if frame.kind == .headers { newestStream = max(newestStream, frame.stream) }
            guard let (kind, cost) = Self.cost(frame, isClosed: { $0 <= begun && !isOpen($0) }) else { return }
            tokens -= cost
            if tokens < 0, excess == nil { excess = kind }
        }
        return excess
    }

    /// A request was answered, and its stream ended well.
    mutating func requestCompleted() { tokens = min(Self.capacity, tokens + Self.perRequest) }

    private mutating func fill(at now: NIODeadline) {
        guard let filledAt else { return self.filledAt = now }
        let interval = TimeAmount.seconds(1).nanoseconds / Int64(Self.perSecond)
        let gained = (now - filledAt).nanoseconds / interval
        guard gained > 0 else { return }
        self.filledAt = filledAt + .nanoseconds(gained * interval)
        tokens = min(Self.capacity, tokens + Int(clamping: gained))
    }

    /// The cost of a frame without work; `nil` for one that is part of a request.
    private static func cost(_ frame: FrameScanner.Frame, isClosed: (Int32) -> Bool) -> (kind: Kind, tokens: Int)? {
        switch frame.kind {
        case .headers, .continuation: nil
        case .data where isClosed(frame.stream): (.lateData, 1)
        case .data where frame.endsStream: nil
        case .data: frame.isPadded || frame.length < smallestData ? (.smallData, 1) : nil
        case .windowUpdate: (.windowUpdate, 1)
        case .priority: (.priority, 1)
        case .ping: (.ping, 1)
        case .settings: (.settings, max(1, frame.length / settingBytes))
        case .resetStream: (.resetStream, 1)
        case .other: (.other, 1)
        }
    }

    /// The length of one setting (RFC 9113, section 6.5.1).
    private static let settingBytes = 6
}
