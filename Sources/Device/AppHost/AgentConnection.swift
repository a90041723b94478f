import AgentWire
import Foundation
import Machine
import Synchronization

/// One connection to the agent: a thread that reads, a queue that writes.
///
/// Guarantees: ``Notice/opened(_:)`` comes first, then batches of messages, and exactly one ``Notice/ended(_:)`` at
/// the end. After each batch the thread waits for ``readOn()``, so that one batch at most is on its way to the app.
/// Bytes to write are bounded: a peer that does not take them loses the connection.
final class AgentConnection: Sendable {
    enum Notice: Sendable {
        case opened(AgentConnection)
        case received([AgentMessage], AgentConnection)
        /// With what a person should know, if anything.
        case ended(String?)
    }

    /// Bytes that may wait to be written.
    private static let unwrittenLimit = 4 << 20

    private struct State {
        var isClosed = false
        var unwritten = 0
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let writer = DispatchQueue(label: "aldaba.agent.writer")
    private let gate = DispatchSemaphore(value: 0)

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Connects in the background and tells `notify`, on the reading thread, what happens.
    static func open(path: String, notify: @escaping @Sendable (Notice) -> Void) {
        OwnThread.begin("aldaba-reader") {
            do throws(AgentSocketError) {
                let connection = AgentConnection(descriptor: try AgentSocket.connect(to: path))
                notify(.opened(connection))
                let report = connection.readAll(notify)
                connection.close()
                connection.writer.async { Glibc.close(connection.descriptor) }
                notify(.ended(report))
            } catch {
                notify(.ended(error.report))
            }
        }
    }

    /// Lets the thread read the next batch.
    func readOn() { gate.signal() }

    /// Ends the connection; what is queued may be lost. May be called at any time.
    func close() {
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

    /// Queues one frame.
    func send(_ frame: [UInt8]) {
        let fits = state.withLock { state in
            guard !state.isClosed else { return true }
            state.unwritten += frame.count
            return state.unwritten <= Self.unwrittenLimit
        }
        guard fits else { return close() }
        writer.async { [self] in
            guard !state.withLock(\.isClosed) else { return }
            if !AgentSocket.write(descriptor, frame) { close() }
            state.withLock { $0.unwritten -= frame.count }
        }
    }

    /// Reads until the end; answers with what a person should know about it.
    private func readAll(_ notify: (Notice) -> Void) -> String? {
        var decoder = AgentFrameDecoder()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while let bytes = AgentSocket.read(descriptor, into: &buffer) {
            decoder.append(bytes)
            do throws(AgentFrameError) {
                var messages: [AgentMessage] = []
                while let frame = try decoder.next() { messages.append(try AgentMessage(frame: frame)) }
                guard !messages.isEmpty else { continue }
                notify(.received(messages, self))
                gate.wait()
            } catch {
                return "the agent sent \(error); the connection is made again."
            }
        }
        return nil
    }
}
