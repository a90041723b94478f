import Foundation
import RelayTrust
import RelayWire

/// Who hears of changes, and of which.
extension RelayedDocuments {
    mutating func watch(_ request: Int64, _ client: Client, _ app: String, _ now: Int64) {
        watchers[client] = Watcher(request: request, app: app)
        lookForWatcher(client, now)
    }

    /// Asks what is new to all watchers: something changed, or the session is a new one.
    package mutating func changed(at now: Int64) {
        for client in watchers.keys { lookForWatcher(client, now) }
    }

    mutating func lookForWatcher(_ client: Client, _ now: Int64) {
        guard let watcher = watchers[client] else { return }
        guard !watcher.isAsking else {
            watchers[client]?.asksAgain = true
            return
        }
        watchers[client]?.isAsking = true
        watchers[client]?.asksAgain = false
        add(Ask(client: client, app: watcher.app, purpose: .watch, deadline: now + Self.patience))
    }

    mutating func watched(_ told: RelayDocumentAnswer, by client: Client?, _ now: Int64) {
        guard let client, var watcher = watchers[client] else { return }
        watcher.isAsking = false
        guard case .documents(let page, let isAll, let last) = told else {
            watchers[client] = watcher
            if watcher.number == nil {
                watchers[client] = nil
                if case .refused(let why) = told { answer(client, watcher.request, Self.outcome(why)) }
            }
            return
        }
        let asksAgain = watcher.asksAgain || !isAll
        if let number = watcher.number {
            for sealed in page { tellChange(sealed, watcher, client) }
            // A server that began anew counts anew: all that is there is told.
            watcher.number = last < number ? 0 : page.last?.number ?? number
            watchers[client] = watcher
            if asksAgain || last < number { lookForWatcher(client, now) }
        } else {
            watcher.number = last
            watchers[client] = watcher
            answer(client, watcher.request, RelayOutcome(.success))
            if watcher.asksAgain { lookForWatcher(client, now) }
        }
    }

    private mutating func tellChange(_ sealed: RelaySealedDocument, _ watcher: Watcher, _ client: Client) {
        var news: RelayMap = ["revision": .integer(sealed.revision)]
        if let document = account?.documents.opened(sealed) {
            guard document.app == watcher.app else { return }
            news["name"] = .string(document.name)
            news["removed"] = .bool(sealed.isRemoved)
            news.merge(document.content.map { ["content": .dictionary($0)] } ?? [:]) { $1 }
        } else {
            // Whose it is cannot be told either.
            news["unreadable"] = true
        }
        directives.append(.tell(client, request: watcher.request, news))
    }
}
