import CoreValues
import Foundation
import RelayProtocol

/// The responses of the server, and how they are reported to clients.
extension RelayedDocuments {
    /// The server has answered.
    package mutating func answered(_ id: UUID, _ told: RelayDocumentAnswer, at now: Timestamp) {
        guard let ask = asks.removeValue(forKey: id), ask.isSent else { return }
        underWay -= 1
        defer { askNext() }
        switch (ask.purpose, told) {
        case (.watch, _): watched(told, by: ask.client, at: now)
        case (.move, .documents(let page, let isAll, _)): moveRead(page, isAll: isAll, at: now)
        case (.move, .refused), (.moved, .refused(.notKept)), (.moved, .refused(.notJoined)), (.moved, .refused(.busy)):
            restMove(until: now + Self.movePause)
        case (.moved, .refused(.full)):
            note("a document for the next key of the account: the limit is reached", .resourceLimits)
            moveOn(at: now)
        case (.move, _), (.moved, _): moveOn(at: now)
        case (_, .refused(let why)): settle(ask, Self.outcome(why))
        case (.put, .kept(let kept)):
            settle(ask, RelayOutcome(.success, message: ["revision": .integer(kept)]))
        case (.put(let content, let revision), .conflict(let present, let isRemoved)):
            conflicted(ask, content: content, revision: revision, present: present, isRemoved: isRemoved)
        case (.get, .documents(let page, _, _)): settle(ask, decryptedOutcome(for: page.first))
        case (.list, .documents(let page, let isAll, _)): settle(ask, listed(page, isAll: isAll, for: ask.app))
        default: settle(ask, RelayOutcome(.failed, detail: "the server's answer is to something else"))
        }
    }

    static func outcome(_ why: RelayDocumentAnswer.Refusal) -> RelayOutcome {
        switch why {
        case .full:
            RelayOutcome(.resourceLimits, detail: "an account has at most 1,000 documents and 4 MiB of them")
        case .notKept: RelayOutcome(.notDelivered, detail: "the server could not write or read it")
        case .notJoined: RelayOutcome(.networkUnavailable, detail: "the server does not know this device's account")
        case .busy: RelayOutcome(.resourceLimits, detail: "too much is asked of the server at a time")
        }
    }

    /// Retries a write that conflicted, where the client named no revision or expected none.
    ///
    /// Without a revision it overwrites the present document. Where none was expected, it replaces the revision of the
    /// removed one.
    private mutating func conflicted(
        _ ask: Ask, content: RelayMap?, revision: Int64?, present: Int64, isRemoved: Bool
    ) {
        if content == nil, isRemoved, revision == nil || revision == 0 || revision == present {
            return settle(ask, RelayOutcome(.notFound, detail: "there is no document of this name"))
        }
        let mayRetry = revision == nil || revision == 0 && isRemoved
        guard mayRetry, ask.attempts < Self.attemptLimit, (0..<Int64.max).contains(present) else {
            let shown = isRemoved ? 0 : present
            return settle(
                ask,
                RelayOutcome(
                    .conflict, message: ["revision": .integer(shown)],
                    detail: isRemoved
                        ? "there is no document of this name" : "the present revision is \(present)"))
        }
        var again = ask
        again.present = present
        again.attempts += 1
        again.isSent = false
        add(again)
    }

    private func decryptedOutcome(for sealed: RelaySealedDocument?) -> RelayOutcome {
        guard let sealed, !sealed.isRemoved else {
            return RelayOutcome(.notFound, detail: "there is no document of this name")
        }
        guard let document = account?.documents.decrypted(sealed), let content = document.content else {
            return RelayOutcome(
                .failed, detail: "the document is there and cannot be opened: none of your devices sealed it like that")
        }
        return RelayOutcome(
            .success,
            message: [
                "name": .string(document.name), "revision": .integer(sealed.revision),
                "content": .dictionary(content),
            ])
    }

    private func listed(_ page: [RelaySealedDocument], isAll: Bool, for app: String) -> RelayOutcome {
        var told: [RelayValue] = []
        var unreadable: Int64 = 0
        for sealed in page where !sealed.isRemoved {
            guard let document = account?.documents.decrypted(sealed) else {
                unreadable += 1
                continue
            }
            guard document.app == app else { continue }
            let size =
                (try? RelayEncoder.encode(document.content ?? [:], limits: RelayDocument.contentLimits))?.count ?? 0
            told.append([
                "name": .string(document.name), "revision": .integer(sealed.revision), "bytes": .integer(Int64(size)),
            ])
        }
        var message: RelayMap = ["documents": .array(told), "unreadable": .integer(unreadable)]
        if !isAll, let last = page.last { message["next"] = .integer(last.number) }
        return RelayOutcome(.success, message: message)
    }
}
