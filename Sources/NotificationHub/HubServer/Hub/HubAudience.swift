import HubProtocol
import PushCore

/// The copy of a hub's audience in memory, which follows the store commit by commit.
struct HubAudience: Sendable {
    /// The generation that was read: in a later one, all installations have to be read again.
    var generation: Int64
    /// The version up to which it has the commits.
    private(set) var version: Int64
    private(set) var index: AudienceIndex

    init(generation: Int64, version: Int64, index: AudienceIndex) {
        self.generation = generation
        self.version = version
        self.index = index
    }

    /// Applies a commit.
    ///
    /// - Returns: `false` where commits before it are missing. One that was applied already changes nothing.
    @discardableResult
    mutating func apply(_ commit: AudienceCommit) -> Bool {
        guard commit.version == version + 1 else { return commit.version <= version }
        for change in commit.changes {
            if let before = change.before { index.remove(before) }
            if let after = change.after { index.insert(after) }
        }
        if let seen = commit.seen { index.markSeen(seen.installations, at: seen.at) }
        version = commit.version
        return true
    }

    /// Whether the store has more than the copy.
    func isBehind(_ hub: HubRecord) -> Bool { generation < hub.generation || version < hub.version }
}
