import PushCore
import PushServer

/// The connection of a device that keeps what it is given.
package final class StreamedConnection: DeviceConnection {
    private let stream: AsyncStream<OutgoingNotification>
    private let continuation: AsyncStream<OutgoingNotification>.Continuation

    package init() { (stream, continuation) = AsyncStream.makeStream() }

    package func deliver(_ notifications: [OutgoingNotification]) {
        for one in notifications { continuation.yield(one) }
    }
    package func waitingChanged() {}
    package func superseded() {}
    package func revoked() {}

    /// The next notification that the device is given.
    package func next() async -> OutgoingNotification? {
        for await one in stream { return one }
        return nil
    }
}
