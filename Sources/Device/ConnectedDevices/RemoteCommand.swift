import Foundation
import RelayWire
import Synchronization

/// Where a command stands.
public enum RemoteCommandLife: String, Sendable, CaseIterable {
    /// It has not left this device.
    case requesting
    /// It is on its way.
    case sent
    /// It has arrived and is being carried out.
    case executing
    /// It was done.
    case completed
    /// It did not arrive, or could not be done.
    case failed
    /// It was sent, and nobody knows what came of it. It may be given again under its id.
    case outcomeUnknown
    /// Its deadline came before it was carried out.
    case expired
    /// It was taken back.
    case canceled

    init(_ life: RelayLife, _ status: RelayStatus?) {
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

/// Why nothing can be said about a command.
public enum RemoteCommandError: Error, Hashable, Sendable {
    /// The agent of this device does not answer.
    case noAgent
}

/// A command to another device, by its id: a launch, a message, a connection to be opened, or a stream.
///
/// Make one, and give it to the call that it names. The same command given again, within ten minutes and to the same device, is
/// carried out there once, and answered with what came of it.
public struct RemoteCommand: Hashable, Sendable {
    /// The id, which the target knows too.
    public let id: UUID

    /// A new command, or one of an id that was kept.
    public init(id: UUID = UUID()) { self.id = id }

    /// Where it stands, as this device's agent knows for a day unless it ends meanwhile.
    ///
    /// - Returns: `nil` where the agent does not know it.
    /// - Throws: ``RemoteCommandError/noAgent``.
    public func life() async throws -> RemoteCommandLife? {
        let notice = await RelayClient.shared.ask { [id] in .life(request: $0, id: id) }
        guard case .life(_, let life, let status, _)? = notice else { throw RemoteCommandError.noAgent }
        return life.map { RemoteCommandLife($0, status) }
    }

    /// Takes it back, here and at the target. What the target has done already stays done. Cancelling the task that waits for
    /// the command does the same.
    ///
    /// - Returns: `false` where this process has no such command under way.
    /// - Throws: ``RemoteCommandError/noAgent``.
    @discardableResult public func cancel() async throws -> Bool {
        let notice = await RelayClient.shared.ask { [id] in .cancel(request: $0, id: id) }
        guard case .answered(_, _, let outcome)? = notice else { throw RemoteCommandError.noAgent }
        return outcome.status == .success
    }
}

/// How far a request has come on its way to the agent, for whoever takes it back meanwhile.
final class RequestPassage: Sendable {
    private struct State {
        var hasLeft = false
        var isTakenBack = false
    }

    private let state = Mutex(State())

    /// Whether the agent may have it.
    var hasLeft: Bool { state.withLock { $0.hasLeft } }
    /// Whether it was taken back.
    var isTakenBack: Bool { state.withLock { $0.isTakenBack } }

    /// Sends it, unless it was taken back before.
    ///
    /// - Parameter send: Queues it, and says whether it could; nobody takes it back meanwhile.
    /// - Returns: Whether it was sent.
    func leave(_ send: () -> Bool) -> Bool {
        state.withLock { state in
            guard !state.isTakenBack, send() else { return false }
            state.hasLeft = true
            return true
        }
    }

    /// Takes it back.
    ///
    /// - Returns: Whether it has left, so that the agent must be told.
    func takeBack() -> Bool {
        state.withLock { state in
            state.isTakenBack = true
            return state.hasLeft
        }
    }
}

extension RelayClient {
    /// Gives a command, and waits for what comes of it. A task that is cancelled meanwhile takes it back.
    func command(_ order: RelayOrder, id: UUID, on device: String, within patience: Duration) async -> RelayOutcome {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        // What waits for nobody may be kept for 28 days; more is the agent's to refuse.
        let longest: Int64 = if case .tell = order { 1 << 32 } else { 3600 }
        let seconds = min(max(patience.components.seconds, 1), longest)
        let deadline = now + seconds * 1000
        let request = RelayRequest.command(request: 0, id: id, device: device, deadline: deadline, order)
        guard let counted = beginCommand(size: { (try? request.encoded().count) ?? 0 }) else {
            return RelayOutcome(
                .resourceLimits,
                detail: "this app has as many commands under way as may be; wait for one to end")
        }
        defer { endCommand(counted) }
        let passage = RequestPassage()
        let notice = await withTaskCancellationHandler {
            await ask({ .command(request: $0, id: id, device: device, deadline: deadline, order) }, by: passage)
        } onCancel: {
            if passage.takeBack() { say(.cancel(request: 0, id: id)) }
        }
        if case .answered(_, _, let outcome)? = notice { return outcome }
        if passage.hasLeft {
            return RelayOutcome(.outcomeUnknown, detail: "the connection to the agent of this device was lost")
        }
        return passage.isTakenBack
            ? RelayOutcome(.cancelled)
            : RelayOutcome(.networkUnavailable, detail: "the agent of this device does not answer")
    }
}
