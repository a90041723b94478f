import CoreValues
import Foundation
import RelayProtocol

/// The clients that watch documents, and the changes they are notified of.
extension RelayedDocuments {
    /// A client that watches already goes on from where it is.
    mutating func watch(_ request: Int64, client: ClientNumber, app: String, at now: Timestamp) {
        var watcher = watchers[client] ?? Watcher(request: request, app: app)
        watcher.request = request
        guard watcher.number == nil else {
            watchers[client] = watcher
            return answer(client, request: request, RelayOutcome(.success))
        }
        guard watcher.unanswered.count < Self.atOnce else {
            return answer(
                client, request: request, RelayOutcome(.resourceLimits, detail: "too much is asked at a time"))
        }
        watcher.unanswered.append(request)
        watchers[client] = watcher
        if !watcher.isAsking { lookForWatcher(client, at: now) }
    }

    /// Asks what is new to all watchers: something changed, or the session is a new one.
    package mutating func changed(at now: Timestamp) {
        for client in watchers.keys { lookForWatcher(client, at: now) }
    }

    mutating func lookForWatcher(_ client: ClientNumber, at now: Timestamp) {
        guard let watcher = watchers[client] else { return }
        guard !watcher.isAsking else {
            watchers[client]?.asksAgain = true
            return
        }
        watchers[client]?.isAsking = true
        watchers[client]?.asksAgain = false
        watchers[client]?.asksAt = nil
        add(Ask(client: client, app: watcher.app, purpose: .watch, deadline: now + Self.timeout))
    }

    mutating func watched(_ told: RelayDocumentAnswer, by client: ClientNumber?, at now: Timestamp) {
        guard let client, var watcher = watchers[client] else { return }
        watcher.isAsking = false
        guard case .documents(let page, let isAll, let last) = told else {
            var why = RelayOutcome(.failed, detail: "the server's answer is to something else")
            if case .refused(let refusal) = told { why = Self.outcome(refusal) }
            notAsked(client, why: why, at: now)
            return
        }
        let asksAgain = watcher.asksAgain || !isAll
        if let number = watcher.number {
            for sealed in page { tellChange(sealed, watcher: watcher, client: client) }
            // A server that restarted counts from the beginning: every document is reported.
            watcher.number = last < number ? 0 : page.last?.number ?? number
            watchers[client] = watcher
            if asksAgain || last < number { lookForWatcher(client, at: now) }
        } else {
            let begun = watcher.unanswered
            watcher.number = last
            watcher.unanswered = []
            watchers[client] = watcher
            for request in begun { answer(client, request: request, RelayOutcome(.success)) }
            if watcher.asksAgain { lookForWatcher(client, at: now) }
        }
    }

    /// The server has not answered a watcher's request. A watcher that has not begun ends; another one asks again after
    /// a pause, even without a change.
    mutating func notAsked(_ client: ClientNumber, why: RelayOutcome, at now: Timestamp) {
        guard let watcher = watchers[client] else { return }
        watchers[client]?.isAsking = false
        watchers[client]?.asksAt = now + Self.watcherPause
        guard watcher.number == nil else { return }
        watchers[client] = nil
        for request in watcher.unanswered { answer(client, request: request, why) }
    }

    /// Repeats the requests of watchers that are due.
    mutating func lookForWatchersDue(at now: Timestamp) {
        for (client, watcher) in watchers {
            if let moment = watcher.asksAt, moment <= now { lookForWatcher(client, at: now) }
        }
    }

    private mutating func tellChange(_ sealed: RelaySealedDocument, watcher: Watcher, client: ClientNumber) {
        var news: RelayMap = ["revision": .integer(sealed.revision)]
        if let document = account?.documents.decrypted(sealed) {
            guard document.app == watcher.app else { return }
            news["name"] = .string(document.name)
            news["removed"] = .bool(sealed.isRemoved)
            news.merge(document.content.map { ["content": .dictionary($0)] } ?? [:]) { $1 }
        } else {
            // Its app is unknown too, so every watcher is notified.
            news["unreadable"] = true
        }
        directives.append(.tell(client, request: watcher.request, news))
    }
}
