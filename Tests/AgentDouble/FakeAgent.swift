import AgentProtocol
import Foundation
import Synchronization

/// An agent of the test's own on a real Unix socket: it says what it is told to, and what it hears is read as it
/// comes.
package final class FakeAgent: Sendable {
    package let path: String
    private let folder: String
    private let listener: Int32
    private let connection = Mutex<Int32?>(nil)
    private let heard: AsyncStream<AppMessage>
    private let hears: AsyncStream<AppMessage>.Continuation

    package init() throws {
        folder = NSTemporaryDirectory() + "aldaba-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = folder + "/agent.sock"
        (heard, hears) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(10_000))
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 8) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        Thread { [self] in serve() }.start()
    }

    /// Ends agent and connection, and removes the socket.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        cut()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends the connection; the app will make another.
    package func cut() {
        connection.withLock { if let open = $0 { shutdown(open, Int32(SHUT_RDWR)) } }
    }

    package func say(_ message: AgentMessage) throws {
        let frame = try AgentFrame.encode(message)
        let sent = connection.withLock { $0.map { send($0, frame, frame.count, Int32(MSG_NOSIGNAL)) } }
        guard sent == frame.count else { throw POSIXError(.EPIPE) }
    }

    /// Sends a frame whose text is not JSON.
    package func sayNonsense() throws {
        let frame: [UInt8] = [0, 0, 0, 1, 0x7B]
        let sent = connection.withLock { $0.map { send($0, frame, frame.count, Int32(MSG_NOSIGNAL)) } }
        guard sent == frame.count else { throw POSIXError(.EPIPE) }
    }

    /// The next message that is of interest.
    package func next(_ isWanted: @Sendable (AppMessage) -> Bool) async throws -> AppMessage {
        for await message in heard where isWanted(message) { return message }
        throw POSIXError(.ECONNRESET)
    }

    /// Waits for the app's hello and welcomes it.
    package func welcome(state: AppState = .active, launchNotification: DeliveredNotification? = nil) async throws {
        _ = try await next { if case .hello = $0 { true } else { false } }
        try say(.welcome(.init(state: state, authorization: 2, launchNotification: launchNotification)))
    }

    /// The outcomes of these notifications, in the order in which they come.
    package func outcomes(of count: Int) async throws -> [Int64: HandledOutcome] {
        var outcomes: [Int64: HandledOutcome] = [:]
        while outcomes.count < count {
            let message = try await next { if case .handled = $0 { true } else { false } }
            if case .handled(let id, let outcome) = message { outcomes[id] = outcome }
        }
        return outcomes
    }

    private func serve() {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            connection.withLock { $0 = descriptor }
            read(from: descriptor)
            connection.withLock {
                $0 = nil
                close(descriptor)
            }
        }
        close(listener)
        hears.finish()
    }

    private func read(from descriptor: Int32) {
        var decoder = AgentFrameDecoder()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            decoder.append(buffer[..<count])
            while let frame = try? decoder.next(), let message = try? AppMessage(frame: frame) { hears.yield(message) }
        }
    }

    package static func notification(_ id: Int64, payload: String = #"{"aps":{"alert":"Hi"},"k":1}"#)
        -> DeliveredNotification
    {
        DeliveredNotification(
            id: id, identifier: "n\(id)", apnsID: "apns-\(id)", topic: "com.example.todo", date: 0, payload: payload)
    }
}
