/// Queued messages: the permission to post them, and the devices that are woken for them.
extension RelayDirectory {
    /// The decision about a message that a device posts.
    public enum Posting: Hashable, Sendable {
        /// The message is to be kept for a device of this account.
        case keep(AccountID)
        /// The message is refused.
        case refuse(RelayUndelivered)
    }

    /// Decides about a message that a device posts for another of its account, whether that is present or not.
    public func posting(_ queuedMessage: QueuedMessage, from session: RelaySession, at now: Int64) -> Posting {
        guard let id = accountOf[session], let account = accounts[id] else { return .refuse(.notJoined) }
        guard account.entries[queuedMessage.peer] != nil, queuedMessage.peer != session.device else {
            return .refuse(.unknownDevice)
        }
        guard queuedMessage.deadline > now else { return .refuse(.expired) }
        // By how much two clocks may differ is not of 28 days.
        guard queuedMessage.deadline - now <= QueuedMessage.longestAge + AnsweredCommands.clockDifference else {
            return .refuse(.notKept)
        }
        return .keep(id)
    }

    /// Wakes a device for which a message was stored, where it is away and can be woken.
    public mutating func wake(_ device: String, of id: AccountID, until deadline: Int64, at now: Int64) -> RelayPush? {
        guard canWake, let entry = accounts[id]?.entries[device], entry.session == nil, let channel = entry.wake,
            entry.pushedAt.map({ now >= $0 + Self.pushPause }) ?? true
        else { return nil }
        accounts[id]?.entries[device]?.pushedAt = now
        return RelayPush(device: device, account: id, channel: channel, until: deadline)
    }

    /// The account of a session's device; `nil` before its hello.
    public func account(of session: RelaySession) -> AccountID? { accountOf[session] }

    /// The session in which a device has sent its hello; `nil` while it is away.
    public func session(of device: String) -> RelaySession? { homes[device] }

    /// The sessions in which devices of an account are there; none where none is.
    public func sessions(of id: AccountID) -> [RelaySession] {
        accounts[id]?.sessions ?? []
    }
}
