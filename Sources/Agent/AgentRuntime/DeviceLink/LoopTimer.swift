import AgentEngine
import NIOCore
import NIOPosix

/// Waiting without a thread of its own.
package enum LoopTimer {
    /// Sleeps on a timer of the network's event loops, which wakes no thread meanwhile. The standard library's sleep
    /// would start libdispatch's workers, which wake the process once a second from then on.
    @Sendable package static func sleep(_ duration: Duration) async throws {
        let rest = MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: TimeAmount(duration)) {}
        try await withTaskCancellationHandler {
            try await rest.futureResult.get()
        } onCancel: {
            rest.cancel()
        }
    }
}
