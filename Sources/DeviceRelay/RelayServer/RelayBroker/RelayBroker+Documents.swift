import Crypto
import Foundation
import Networking
import PushCore
import RelayProtocol
import Synchronization

/// The documents that the devices of one person share. The store is called outside every lock.
extension RelayBroker {
    /// The maximum number of outstanding document requests of one device.
    static let documentRequestLimit = 16
    /// The period of the sweep over documents, and the pause before its next step while there is more, in milliseconds.
    static let documentSweepPause: Int64 = 3_600_000, documentSweepStep: Int64 = 50

    /// Only a device that has announced its account has access to the account's documents. With the access token of
    /// another account, which proves as much as a hello with it, the device reads that account's.
    func handleDocumentRequest(_ request: RelayDocumentRequest, id: UUID, from session: RelaySession, at now: Timestamp)
    {
        func refuse(_ why: RelayDocumentAnswer.Refusal) {
            sendRefusal(to: session, .documentAnswer(id: id, .refused(why)))
        }
        guard let own = state.withLock({ $0.directory.account(of: session) }) else { return refuse(.notJoined) }
        guard let store = documentStore else { return refuse(.notKept) }
        let hasRoom = documentRequests.withLock { requests in
            guard requests[session, default: 0] < Self.documentRequestLimit else { return false }
            requests[session, default: 0] += 1
            return true
        }
        guard hasRoom else { return refuse(.busy) }
        var account = own
        if case .list(_, let token?) = request { account = Array(SHA256.hash(data: token)) }
        store.perform(request, of: account, at: now) { [weak self] answer in
            guard let self else { return }
            documentRequests.withLock { requests in
                if let count = requests[session] { requests[session] = count > 1 ? count - 1 : nil }
            }
            let told = state.withLock { state in
                var told = [(session, RelayFrame.documentAnswer(id: id, answer), state.connections[session])]
                if case .kept = answer, sharing == nil {
                    told += state.directory.sessions(of: own).map { ($0, .documentsChanged, state.connections[$0]) }
                }
                return told
            }
            for (session, frame, connection) in told { send(frame, to: session, connection) }
            // Each server notifies its devices once it has read that there are new ones.
            if case .kept = answer, sharing != nil { announce([own: .max]) }
        }
    }

    /// Schedules the sweep over documents, repeatedly.
    func sweepDocuments(after pause: Int64) {
        schedule(pause) { [weak self] in
            guard let self, fault() == nil else { return }
            let now = clock()
            documentStore?.sweep(at: now) { [weak self] unseen, isAll in
                guard let self else { return }
                let isAtWork = forgetDocuments(of: unseen ?? [], at: now) { [weak self] isDone in
                    self?.sweepDocuments(after: isDone ? Self.documentSweepStep : Self.documentSweepPause)
                }
                if isAtWork { return }
                let isDone = unseen == nil || (isAll && unseen?.isEmpty ?? true)
                sweepDocuments(after: isDone ? Self.documentSweepPause : Self.documentSweepStep)
            }
        }
    }

    /// Deletes some documents of each of these accounts that have no connected device now.
    ///
    /// - Parameter complete: Called once for all of them, with whether the last deletion succeeded.
    /// - Returns: `false` where there is no such account, and `complete` is not called.
    private func forgetDocuments(
        of accounts: [RelayDirectory.AccountID], at now: Timestamp, then complete: @escaping @Sendable (Bool) -> Void
    ) -> Bool {
        let (away, back) = state.withLock { state in
            let away = accounts.filter { state.directory.sessions(of: $0).isEmpty }
            return (away, accounts.filter { !away.contains($0) })
        }
        for account in back { documentStore?.seen(account, at: now) }
        for (place, account) in away.enumerated() {
            // The store completes in order.
            documentStore?.forget(account, at: now) { [weak self] isAll in
                if isAll == nil { self?.logger.error("The documents of an account that is away were not deleted.") }
                if place == away.count - 1 { complete(isAll != nil) }
            }
        }
        return !away.isEmpty
    }
}
