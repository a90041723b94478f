import AgentWire
import Foundation

/// Which fetched files are kept, by who asked for which address. A value; ``MediaFolder`` has the files.
///
/// Guarantees: what is kept has at most ``byteLimit`` bytes and ``countLimit`` files; who was asked for the longest ago goes
/// first. No app learns what another has fetched.
package struct MediaCache: Sendable {
    /// What a file is found by.
    package struct Key: Codable, Hashable, Sendable {
        /// The bundle id of the app that asked.
        package var app: BundleID
        /// The address as it was asked for.
        package var url: String

        /// Who asked for what.
        package init(app: BundleID, url: String) {
            self.app = app
            self.url = url
        }
    }

    /// One file.
    package struct Entry: Codable, Hashable, Sendable {
        /// Who asked for what.
        package var key: Key
        /// The file's name in the folder.
        package var name: String
        /// How many bytes it has.
        package var size: Int64
        /// What it is.
        package var kind: MediaKind
        /// The address that answered, after all redirects.
        package var source: String
        /// What that address is asked with.
        package var validator: MediaValidator

        /// A file that is kept.
        package init(
            key: Key, name: String, size: Int64, kind: MediaKind, source: String, validator: MediaValidator
        ) {
            self.key = key
            self.name = name
            self.size = size
            self.kind = kind
            self.source = source
            self.validator = validator
        }
    }

    private let byteLimit: Int64
    private let countLimit: Int
    private var entries: [Key: (entry: Entry, turn: Int)] = [:]
    private var turns = 0
    /// The bytes of all files.
    package private(set) var size: Int64 = 0

    /// Nothing is kept yet.
    package init(byteLimit: Int64 = 100 << 20, countLimit: Int = 512) {
        self.byteLimit = byteLimit
        self.countLimit = countLimit
    }

    /// What is kept under a key; it counts as asked for now.
    package mutating func find(_ key: Key) -> Entry? {
        guard let entry = entries[key]?.entry else { return nil }
        turns += 1
        entries[key]?.turn = turns
        return entry
    }

    /// Keeps a file, in place of an earlier one of its key.
    ///
    /// - Returns: Those that are to be deleted for it; the new one, where it alone is too large.
    package mutating func insert(_ entry: Entry) -> [Entry] {
        guard entry.size <= byteLimit, countLimit > 0 else { return [entry] }
        var gone = remove(entry.key).map { [$0] } ?? []
        turns += 1
        entries[entry.key] = (entry, turns)
        size += entry.size
        while size > byteLimit || entries.count > countLimit,
            let oldest = entries.min(by: { $0.value.turn < $1.value.turn })?.key, let removed = remove(oldest)
        {
            gone.append(removed)
        }
        return gone
    }

    /// Keeps the file of a key no more.
    package mutating func remove(_ key: Key) -> Entry? {
        guard let removed = entries.removeValue(forKey: key)?.entry else { return nil }
        size -= removed.size
        return removed
    }

    /// Keeps nothing of an app any more.
    package mutating func removeAll(of app: BundleID) -> [Entry] {
        entries.keys.filter { $0.app == app }.compactMap { remove($0) }
    }
}
