import Foundation
import Platform
import Synchronization

/// A connected stream socket: the calling thread reads, a queue writes.
///
/// The app handles at most one batch at a time: after each, the reading thread waits for ``readOn()``. Bytes to write
/// are bounded: a peer that does not read them loses the connection.
package final class PacedStream: Sendable {
    private struct State {
        var isClosed = false
        var unwritten = 0
    }

    private let descriptor: Int32
    private let unwrittenLimit: Int
    private let state = Mutex(State())
    private let writer: DispatchQueue
    private let gate = DispatchSemaphore(value: 0)

    /// Takes over a connected socket. ``readAll(_:)`` closes it.
    ///
    /// - Parameters:
    ///   - unwrittenLimit: Bytes that may wait to be written.
    ///   - writer: The label of the queue that writes.
    package init(_ descriptor: Int32, unwrittenLimit: Int, writer: String) {
        self.descriptor = descriptor
        self.unwrittenLimit = unwrittenLimit
        self.writer = DispatchQueue(label: writer)
    }

    /// Reads until the end, an error, or ``close()``; then closes the socket behind what is still being written.
    ///
    /// - Parameter take: Gets what one read brought. Where it answers with `true`, nothing more is read before
    ///   ``readOn()``.
    /// - Throws: The error of `take`, which ends the connection.
    package func readAll<Failure>(_ take: (ArraySlice<UInt8>) throws(Failure) -> Bool) throws(Failure) {
        defer {
            close()
            writer.async { [descriptor] in _ = Glibc.close(descriptor) }
        }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while let bytes = AgentSocket.read(descriptor, into: &buffer) {
            if try take(bytes) { gate.wait() }
        }
    }

    /// Lets the thread read on.
    package func readOn() { gate.signal() }

    /// Ends the connection; what is queued may be lost. May be called at any time.
    package func close() {
        let closes = state.withLock { state in
            guard !state.isClosed else { return false }
            state.isClosed = true
            // Within the lock: the reading thread takes it before it closes the descriptor, and afterwards
            // the number may be another file's.
            shutdown(descriptor, Int32(SHUT_RDWR))
            return true
        }
        if closes { gate.signal() }
    }

    /// Queues bytes.
    package func send(_ bytes: [UInt8]) {
        let fits = state.withLock { state in
            guard !state.isClosed else { return true }
            state.unwritten += bytes.count
            return state.unwritten <= unwrittenLimit
        }
        guard fits else { return close() }
        writer.async { [self] in
            guard !state.withLock(\.isClosed) else { return }
            if !AgentSocket.write(descriptor, bytes) { close() }
            state.withLock { $0.unwritten -= bytes.count }
        }
    }
}
