import CoreValues
import Foundation
import RelayProtocol

/// The move of documents from the previous account to the present one, sealed with the latter's keys.
extension RelayedDocuments {
    /// Begins to move the documents of the previous account, after this device changed the account's key.
    package mutating func move(from account: AccountKey) {
        former = (account, 0)
        read = []
        isMoving = false
    }

    /// Ends the look at them until a moment, or the next session. It begins anew then: what is put already is there.
    mutating func restMove(until moment: Timestamp?) {
        former?.number = 0
        read = []
        isMoving = false
        movesAt = former == nil ? nil : moment
    }

    mutating func note(_ what: String, _ status: RelayStatus) {
        directives.append(.note(what, status))
    }

    /// Goes on with that where there is a session.
    package mutating func resumeMove(at now: Timestamp) {
        movesAt = nil
        guard former != nil, !isMoving, isConnected else { return }
        isMoving = true
        moveOn(at: now)
    }

    mutating func moveRead(_ page: [RelaySealedDocument], isAll: Bool, at now: Timestamp) {
        guard let before = former else { return }
        read = page.filter { !$0.isRemoved }
        former?.number = page.last?.number ?? before.number
        if isAll && read.isEmpty { former = nil }
        moveOn(at: now)
    }

    mutating func moveOn(at now: Timestamp) {
        guard let former = former else {
            isMoving = false
            return
        }
        while !read.isEmpty {
            let sealed = read.removeFirst()
            guard let document = former.account.documents.decrypted(sealed),
                let again = try? account?.documents.sealed(document, revision: sealed.revision)
            else {
                note("a document for the next key of the account: it does not open", .failed)
                continue
            }
            return add(Ask(purpose: .moved(again), deadline: now + Self.timeout))
        }
        add(Ask(purpose: .move(after: former.number), deadline: now + Self.timeout))
    }
}
