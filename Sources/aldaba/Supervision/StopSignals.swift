import Dispatch
import Glibc

/// The signals by which a person or the system ends a command: SIGINT, SIGTERM and SIGHUP.
package enum StopSignals {
    /// Waits for the first of them, or for cancellation. From the first call on they no longer end the process
    /// by themselves.
    package static func wait() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        for await _ in stream { break }
        for source in sources { source.cancel() }
    }
}
