import AgentProtocol
import Platform

/// A connection to the agent, read and written as ``PacedStream`` does.
///
/// Guarantees: ``Notice/opened(_:)`` comes first, then batches of messages, and exactly one ``Notice/ended(_:)`` at
/// the end. After each batch the thread waits for ``readOn()``.
package final class AgentConnection: Sendable {
    /// An event of a connection.
    package enum Notice: Sendable {
        /// It is there.
        case opened(AgentConnection)
        /// The messages of one read arrived; nothing more is read before ``AgentConnection/readOn()``.
        case received([AgentMessage], AgentConnection)
        /// The connection has ended; with a sentence for the person, if there is one.
        case ended(String?)
    }

    /// The default limit of bytes that wait to be written.
    package static let unwrittenLimit = 4 << 20

    private let stream: PacedStream

    private init(descriptor: Int32, unwrittenLimit: Int) {
        stream = PacedStream(descriptor, unwrittenLimit: unwrittenLimit, writer: "aldaba.agent.writer")
    }

    /// Connects in the background, and reports events to `notify`, on the reading thread.
    ///
    /// - Parameter unwrittenLimit: Bytes that may wait to be written; beyond them the connection ends.
    package static func open(
        path: String, unwrittenLimit: Int = unwrittenLimit, notify: @escaping @Sendable (Notice) -> Void
    ) {
        NamedThread.begin("aldaba-reader") {
            do throws(AgentSocketError) {
                let connection = AgentConnection(
                    descriptor: try AgentSocket.connect(to: path), unwrittenLimit: unwrittenLimit)
                notify(.opened(connection))
                notify(.ended(connection.readAll(notify)))
            } catch {
                notify(.ended(error.report))
            }
        }
    }

    /// Lets the thread read the next batch.
    package func readOn() { stream.readOn() }

    /// Ends the connection; what is queued may be lost. May be called at any time.
    package func close() { stream.close() }

    /// Queues one frame.
    package func send(_ frame: [UInt8]) { stream.send(frame) }

    /// Reads until the end; answers with what a person should know about it.
    private func readAll(_ notify: (Notice) -> Void) -> String? {
        var decoder = AgentFrameDecoder()
        do throws(AgentFrameError) {
            try stream.readAll { bytes throws(AgentFrameError) in
                decoder.append(bytes)
                var messages: [AgentMessage] = []
                while let frame = try decoder.next() { messages.append(try AgentMessage(frame: frame)) }
                guard !messages.isEmpty else { return false }
                notify(.received(messages, self))
                return true
            }
            return nil
        } catch {
            return "the agent sent \(error); the connection is made again."
        }
    }
}
