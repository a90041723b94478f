import Crypto
import Foundation
import Observability
import Relay
import RelayWire
import Synchronization

/// Documents that the devices of one person share. The store is asked outside every lock.
extension RelayCentre {
    /// How much one device may ask at a time.
    static let documentAskLimit = 16
    /// How often the store is asked what is to be forgotten, and how soon again where there is more, in milliseconds.
    static let documentSweepPause: Int64 = 3_600_000, documentSweepStep: Int64 = 50

    /// Only a device that said whose it is reaches the documents of its account; with the access token of another account, which proves as
    /// much as a hello with it, it reads that one's.
    func askDocuments(_ ask: RelayDocumentAsk, _ id: UUID, by session: RelaySession, at now: Int64) {
        func refuse(_ why: RelayDocumentAnswer.Refusal) { tell(session, .documentAnswer(id: id, .refused(why))) }
        guard let own = state.withLock({ $0.directory.account(of: session) }) else { return refuse(.notJoined) }
        guard let store = documentStore else { return refuse(.notKept) }
        let hasRoom = documentAsks.withLock { asks in
            guard asks[session, default: 0] < Self.documentAskLimit else { return false }
            asks[session, default: 0] += 1
            return true
        }
        guard hasRoom else { return refuse(.busy) }
        var account = own
        if case .list(_, let token?) = ask { account = Array(SHA256.hash(data: token)) }
        store.perform(ask, of: account, at: now) { [weak self] answer in
            guard let self else { return }
            documentAsks.withLock { asks in
                if let count = asks[session] { asks[session] = count > 1 ? count - 1 : nil }
            }
            let told = state.withLock { state in
                var told = [(session, RelayFrame.documentAnswer(id: id, answer), state.connections[session])]
                if case .kept = answer {
                    told += state.directory.sessions(of: own).map { ($0, .documentsChanged, state.connections[$0]) }
                }
                return told
            }
            for (session, frame, connection) in told { send(frame, to: session, connection) }
        }
    }

    /// Has the store asked what is to be forgotten, and again.
    func sweepDocuments(after pause: Int64) {
        schedule(pause) { [weak self] in
            guard let self else { return }
            let now = clock().rawValue
            documentStore?.sweep(at: now) { [weak self] unseen, isAll in
                guard let self else { return }
                for account in unseen ?? [] { forgetDocuments(of: account, at: now) }
                let isDone = unseen == nil || (isAll && unseen?.isEmpty ?? true)
                sweepDocuments(after: isDone ? Self.documentSweepPause : Self.documentSweepStep)
            }
        }
    }

    private func forgetDocuments(of account: RelayDirectory.AccountID, at now: Int64) {
        guard state.withLock({ $0.directory.sessions(of: account).isEmpty }) else {
            documentStore?.seen(account, at: now)
            return
        }
        documentStore?.forget(account, at: now) { [weak self] isAll in
            if isAll == nil { self?.logger.error("The documents of an account that is away were not deleted.") }
        }
    }
}
