import Dispatch
import Glibc

/// When files that a running program has read should be looked at again.
package enum ReloadTriggers {
    /// Why to look.
    package enum Occasion: Sendable {
        /// A request by the signal SIGHUP.
        case asked
        /// Time has passed.
        case time
    }

    /// Calls `body` at every occasion, one at a time, until the task is cancelled. SIGHUP no longer ends the process.
    ///
    /// - Parameter interval: The time between two checks without a request.
    package static func forEach(every interval: DispatchTimeInterval, _ body: (Occasion) async -> Void) async {
        let (stream, continuation) = AsyncStream.makeStream(of: Occasion.self, bufferingPolicy: .bufferingNewest(8))
        signal(SIGHUP, SIG_IGN)
        let asked = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        asked.setEventHandler { continuation.yield(.asked) }
        asked.resume()
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .seconds(1))
        timer.setEventHandler { continuation.yield(.time) }
        timer.resume()
        for await occasion in stream { await body(occasion) }
        asked.cancel()
        timer.cancel()
    }
}
