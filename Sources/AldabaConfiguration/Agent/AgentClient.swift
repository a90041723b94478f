import AgentProtocol
import AppHost
import ArgumentParser
import Foundation
import Glibc
import Platform
import RelayProtocol

/// The options by which a command finds the agent.
package struct AgentOption: ParsableArguments {
    /// The socket, as it was given.
    @Option(help: "The agent's socket (default: ALDABA_AGENT_SOCKET, else the data folder's, else the session's).")
    package var agentSocket: String?
    /// The data folder in which the socket may be.
    @OptionGroup package var location: FolderOption

    /// Made by the parser, which fills it in.
    package init() {}

    /// The data folder, for a command that adds to it and then notifies the agent.
    ///
    /// - Throws: ``CommandError`` where an agent's socket was named and its folder was not, and as
    ///   ``FolderOption/begun()`` does.
    package func begunFolder() throws -> DataFolder {
        guard agentSocket == nil || location.isNamed else {
            throw CommandError(.invalidInput, "this goes into the data folder of that agent; name it with --data")
        }
        return try location.begun()
    }

    /// The sockets to try, the likeliest first.
    private var candidates: [String] {
        let environment = ProcessInfo.processInfo.environment
        if let agentSocket { return [agentSocket] }
        if let named = environment["ALDABA_AGENT_SOCKET"], !named.isEmpty { return [named] }
        let ofFolder = location.folder.agentSocket(environment: environment)
        guard location.data == nil, let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") else {
            return [ofFolder]
        }
        return [runtime + "/aldaba/agent.sock", ofFolder]
    }

    /// Connects to the agent.
    package func connect() throws -> AgentClient {
        var reason: String?
        for path in candidates {
            do throws(AgentSocketError) {
                return AgentClient(descriptor: try AgentSocket.connect(to: path))
            } catch {
                reason = reason ?? error.report
            }
        }
        throw CommandError(
            .unreachable,
            reason ?? "no agent answers at \(candidates.joined(separator: " nor at ")); start `aldaba agent`, or name "
                + "its data folder with --data")
    }
}

/// A connection to the agent that blocks while it waits.
package final class AgentClient {
    private let descriptor: Int32
    private var decoder = AgentFrameDecoder()

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Connects to the agent at a socket.
    package static func connect(to path: String) throws -> AgentClient {
        AgentClient(descriptor: try AgentSocket.connect(to: path))
    }

    deinit { close(descriptor) }

    /// Sends a command, and waits for the answer.
    ///
    /// - Parameter seconds: How long to wait; `nil` for ever.
    /// - Throws: ``CommandError`` with the agent's message, or after the timeout.
    package func ask(_ command: ManagementCommand, within seconds: Double? = 10) throws -> ManagementAnswer {
        guard AgentSocket.write(descriptor, try AgentFrame.encode(AppMessage.manage(request: 1, command))) else {
            throw CommandError(.unreachable, "the agent has ended")
        }
        let deadline = seconds.map { ContinuousClock.now + .seconds($0) }
        while true {
            switch try next(deadline) {
            case .managed(_, .failed(let message)): throw CommandError(.invalidInput, message)
            case .managed(_, let answer): return answer
            case .refused(_, "notAllowed", let message): throw CommandError(.notAuthorized, message)
            case .refused(_, _, let message): throw CommandError(.failed, message)
            default: break
            }
        }
    }

    /// Sends a request about relaying.
    package func sendRelayRequest(_ request: RelayRequest) throws {
        let packet = RelayPacket(try request.encoded())
        guard AgentSocket.write(descriptor, try AppMessage.relay(packet).frame()) else {
            throw CommandError(.unreachable, "the agent has ended")
        }
    }

    /// The agent's next message about relaying.
    ///
    /// - Parameter deadline: Until when to wait; `nil` for ever.
    package func notice(until deadline: ContinuousClock.Instant?) throws -> RelayNotice {
        while true {
            switch try next(deadline) {
            case .relay(let packet): return try RelayNotice([UInt8](packet.frame))
            case .refused(_, "notAllowed", let message): throw CommandError(.notAuthorized, message)
            case .refused(_, _, let message): throw CommandError(.failed, message)
            default: break
            }
        }
    }

    private func next(_ deadline: ContinuousClock.Instant?) throws -> AgentMessage {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if let frame = try decoder.next() { return try AgentMessage(frame: frame) }
            try wait(until: deadline)
            guard let bytes = AgentSocket.read(descriptor, into: &buffer) else {
                throw CommandError(.unreachable, "the agent has ended")
            }
            decoder.append(bytes)
        }
    }

    private func wait(until deadline: ContinuousClock.Instant?) throws {
        var waiting = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        repeat {
            guard Pause.poll(&waiting, until: deadline) else {
                throw CommandError(.failed, "poll: \(String(cString: strerror(errno)))")
            }
            if waiting[0].revents != 0 { return }
        } while deadline.map { $0 > .now } ?? true
        throw CommandError(.timedOut, "nobody answered in time")
    }
}

/// An answer of another kind than was asked for.
package func unexpected() -> CommandError {
    CommandError(.failed, "the agent's answer cannot be read; are agent and command of one release?")
}
