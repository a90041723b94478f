import Foundation
import RelayProtocol
import Synchronization

/// The state of a command in its life.
public enum RemoteCommandLife: String, Sendable, CaseIterable {
    /// It has not left this device.
    case requesting
    /// It was sent to the target.
    case sent
    /// It has arrived and is being carried out.
    case executing
    /// It was done.
    case completed
    /// It did not arrive, or could not be done.
    case failed
    /// It was sent, and its outcome is unknown. It may be sent again under its id.
    case outcomeUnknown
    /// The deadline passed before the command was carried out.
    case expired
    /// It was canceled.
    case canceled

    init(_ life: CommandState, _ status: RelayStatus?) {
        self =
            switch life {
            case .requesting: .requesting
            case .sent: .sent
            case .executing: .executing
            case .completed: .completed
            case .failed: status == .outcomeUnknown ? .outcomeUnknown : .failed
            case .expired: .expired
            case .cancelled: .canceled
            }
    }
}

/// The reason why the state of a command is unknown.
public enum RemoteCommandError: Error, Hashable, Sendable {
    /// The agent of this device does not answer.
    case noAgent
}

/// A command to another device, by its id: a launch, a message, a connection to be opened, or a stream.
///
/// Create one, and pass it to the call that it identifies. The same command sent again to the same device within ten
/// minutes is carried out there once, and answered with the first outcome.
public struct RemoteCommand: Hashable, Sendable {
    /// The id, which the target knows too.
    public let id: UUID

    /// A new command, or one of an id that was kept.
    public init(id: UUID = UUID()) { self.id = id }

    /// The command's state. This device's agent remembers it for a day, unless the agent ends meanwhile.
    ///
    /// - Returns: `nil` where the agent does not know it.
    /// - Throws: ``RemoteCommandError/noAgent``.
    public func life() async throws -> RemoteCommandLife? {
        let notice = await RelayClient.shared.ask { [id] in .life(request: $0, id: id) }
        guard case .life(_, let life, let status, _)? = notice else { throw RemoteCommandError.noAgent }
        return life.map { RemoteCommandLife($0, status) }
    }

    /// Cancels the command, here and at the target. Effects at the target are not undone. Cancelling the task that
    /// waits for the command does the same.
    ///
    /// - Returns: `false` where this process has no such command in progress.
    /// - Throws: ``RemoteCommandError/noAgent``.
    @discardableResult public func cancel() async throws -> Bool {
        let notice = await RelayClient.shared.ask { [id] in .cancel(request: $0, id: id) }
        guard case .answered(_, _, let outcome)? = notice else { throw RemoteCommandError.noAgent }
        return outcome.status == .success
    }
}

/// The progress of a request to the agent, for a caller that cancels it meanwhile.
final class RequestProgress: Sendable {
    private struct State {
        var hasLeft = false
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Whether the agent may have it.
    var hasLeft: Bool { state.withLock { $0.hasLeft } }
    /// Whether it was canceled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Sends the request, unless it was canceled before.
    ///
    /// - Parameter send: Queues it, and returns whether it could; it cannot be canceled meanwhile.
    /// - Returns: Whether it was sent.
    func sendUnlessCancelled(_ send: () -> Bool) -> Bool {
        state.withLock { state in
            guard !state.isCancelled, send() else { return false }
            state.hasLeft = true
            return true
        }
    }

    /// Cancels the request.
    ///
    /// - Returns: Whether it was sent already, so that the agent must be notified.
    func takeBack() -> Bool {
        state.withLock { state in
            state.isCancelled = true
            return state.hasLeft
        }
    }
}

extension RelayClient {
    /// Sends a command, and waits for its outcome. Cancelling the task cancels the command.
    func command(_ order: RelayOrder, id: UUID, on device: String, within timeout: Duration) async -> RelayOutcome {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        // A command that no caller waits for may be kept for 28 days; the agent refuses longer times.
        let longest: Int64 = if case .tell = order { 1 << 32 } else { 3600 }
        let seconds = min(max(timeout.components.seconds, 1), longest)
        let deadline = now + seconds * 1000
        let request = RelayRequest.command(request: 0, id: id, device: device, deadline: deadline, order)
        guard let counted = beginCommand(size: { (try? request.encoded().count) ?? 0 }) else {
            return RelayOutcome(
                .resourceLimits,
                detail: "this app has as many commands under way as may be; wait for one to end")
        }
        defer { endCommand(counted) }
        let passage = RequestProgress()
        let notice = await withTaskCancellationHandler {
            await ask({ .command(request: $0, id: id, device: device, deadline: deadline, order) }, by: passage)
        } onCancel: {
            if passage.takeBack() { say(.cancel(request: 0, id: id)) }
        }
        if case .answered(_, _, let outcome)? = notice { return outcome }
        if passage.hasLeft {
            return RelayOutcome(.outcomeUnknown, detail: "the connection to the agent of this device was lost")
        }
        return passage.isCancelled
            ? RelayOutcome(.cancelled)
            : RelayOutcome(.networkUnavailable, detail: "the agent of this device does not answer")
    }
}
