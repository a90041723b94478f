import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// An accepted connection that is not yet served.
///
/// When a listener ends, connections that wait to be served are dropped. NIO crashes the process when an unfinished
/// `NIOAsyncChannel` is dropped; this one is closed instead.
final class AcceptedConnection: ServerChildChannelValue {
    private let accepted: HTTP1Channel.Value
    private let isServed = Atomic<Bool>(false)

    init(_ accepted: HTTP1Channel.Value) { self.accepted = accepted }

    var channel: any Channel { accepted.channel }

    /// Serves the connection; the closure must finish it.
    func serve(_ body: (HTTP1Channel.Value) async -> Void) async {
        isServed.store(true, ordering: .relaxed)
        await body(accepted)
    }

    deinit {
        guard !isServed.load(ordering: .relaxed) else { return }
        Task { [accepted] in try? await accepted.executeThenClose { _, _ in } }
    }
}

/// HTTP/1.1, on connections that may be dropped before they are served.
struct DroppableChannel: ServerChildChannel {
    private let base: HTTP1Channel

    init(_ base: HTTP1Channel) { self.base = base }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        base.setup(channel: channel, logger: logger).map(AcceptedConnection.init)
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        await value.serve { await base.handle(value: $0, logger: logger) }
    }
}
