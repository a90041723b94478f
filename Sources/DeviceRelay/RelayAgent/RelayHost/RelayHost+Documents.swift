import Foundation
import RelayProtocol

/// Documents that the person's devices share: what is theirs goes to ``RelayedDocuments``, and what follows comes from
/// there.
extension RelayHost {
    /// Takes what an app or a terminal asks.
    mutating func document(_ order: RelayDocumentOrder, number: Int64, client: ClientNumber, at now: Int64) {
        guard settings.account != nil, directory.devices != nil else {
            let why = obstacle?.why ?? "there is no way to the server now"
            return answer(client, number, RelayOutcome(.networkUnavailable, detail: why))
        }
        let app = members[client]?.app
        withDocuments { $0.take(order, number, of: client, app: app, at: now) }
    }

    /// Passes an event to the documents, and carries out the resulting directives.
    mutating func withDocuments(_ change: (inout RelayedDocuments) -> Void) {
        documents.account = settings.account
        documents.isConnected = directory.devices != nil
        change(&documents)
        for directive in documents.takeDirectives() {
            switch directive {
            case .ask(let id, let ask): directives.append(.send(.documentAsk(id: id, ask)))
            case .answer(let client, let request, let outcome): answer(client, request, outcome)
            case .tell(let client, let request, let news):
                directives.append(.tell(client, .told(request: request, news)))
            case .note(let what, let status):
                log(RelayLogEntry(device: "", what: what, status: status))
            }
        }
    }
}
