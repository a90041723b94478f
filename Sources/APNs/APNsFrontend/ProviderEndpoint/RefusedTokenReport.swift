import APNsProtocol
import Logging
import NIOCore
import Networking
import PushCore
import PushServer
import Synchronization

/// Reports refused provider tokens with a known key, and refused known certificates: to the team by a timeline, and to
/// the operator by a log line. Thread-safe.
///
/// Such a token may be the team's own, expired or wrongly signed, or any sender's: the key's id is no secret. So there
/// are at most ten notes a minute for each key and one log line in ten seconds.
final class RefusedTokenReport: Sendable {
    private struct Budget {
        var minute: Int64
        var notes = 0
        var silentUntil: Timestamp
        var unsaid = 0
    }

    static let notesPerMinute = 10
    private static let silence = Duration.seconds(10)
    /// The maximum number of tracked keys; there are as many as teams made.
    private static let keyLimit = 4096

    private let logger: Logger
    private let clock: @Sendable () -> Timestamp
    private let budgets = Mutex<[CredentialDirectory.KnownKey: Budget]>([:])

    init(logger: Logger, clock: @escaping @Sendable () -> Timestamp) {
        self.logger = logger
        self.clock = clock
    }

    /// Reports a request without a credential that the register knows: by a log line alone.
    func reportUnknown(_ refusal: APNsRejection, from address: SocketAddress?) {
        CredentialRefusals.log(
            "\(refusal.reason.rawValue), \(refusal.note ?? refusal.reason.sentence), from "
                + (address.map { "\($0)" } ?? "an unknown address"), to: logger)
    }

    /// Reports a refused token or certificate.
    ///
    /// - Returns: Whether the refusal is to be recorded in a timeline of the key's team.
    func report(
        _ refusal: APNsRejection, of key: CredentialDirectory.KnownKey, from address: SocketAddress?
    ) -> Bool {
        let now = clock()
        let minute = now.rawValue / 60_000
        let (notes, unsaid) = budgets.withLock { budgets -> (Bool, Int?) in
            if budgets.count >= Self.keyLimit, budgets[key] == nil { budgets = [:] }
            var budget = budgets[key] ?? Budget(minute: minute, silentUntil: now)
            if budget.minute != minute {
                budget = Budget(minute: minute, silentUntil: budget.silentUntil, unsaid: budget.unsaid)
            }
            budget.notes += 1
            let isSaid = now >= budget.silentUntil
            let unsaid = budget.unsaid
            budget.unsaid = isSaid ? 0 : budget.unsaid + 1
            if isSaid { budget.silentUntil = now + Self.silence }
            budgets[key] = budget
            return (budget.notes <= Self.notesPerMinute, isSaid ? unsaid : nil)
        }
        if let unsaid {
            logger.warning(
                "a provider's credential was refused: \(refusal.reason.rawValue), \(refusal.note ?? refusal.reason.sentence)",
                metadata: [
                    LogKey.key: "\(key.keyID)", LogKey.team: "\(key.team)",
                    LogKey.address: "\(address.map { "\($0)" } ?? "unknown")", LogKey.count: "\(unsaid + 1)",
                ])
        }
        return notes
    }
}
