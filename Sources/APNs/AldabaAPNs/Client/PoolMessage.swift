import NIOCore
import Networking
import PushCore

/// A request without its provider token.
struct PoolMessage: Sendable {
    /// The fields, pseudo-header fields first.
    var headers = HeaderBlock()
    var body: [UInt8]

    /// Creates a request with the fields that every one has.
    init(method: String, authority: String, path: String, body: [UInt8]) {
        self.body = body
        headers.append(":method", method)
        headers.append(":scheme", "https")
        headers.append(":authority", authority)
        headers.append(":path", path)
    }
}

/// The end of a request.
enum PoolOutcome: Sendable {
    case response(HTTP2Response)
    case failure(ConnectionPool.Cause, mayHaveBeenProcessed: Bool, detail: String?)
}

/// The clocks of a client.
struct Clocks: Sendable {
    /// The clock of deadlines.
    var now: @Sendable () -> PoolInstant = { .now }
    /// The clock of provider tokens.
    var wall: @Sendable () -> Timestamp
}

extension PoolInstant {
    /// The present time.
    static var now: PoolInstant { PoolInstant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }
}
