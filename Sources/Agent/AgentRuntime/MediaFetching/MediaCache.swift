import AgentEngine
import AgentProtocol
import Foundation

/// The index of fetched files, by the app that requested them and the address. A value; ``MediaFolder`` has the files.
///
/// Guarantees: at most ``byteLimit`` bytes and ``countLimit`` files are kept, and the least recently used is removed
/// first. No app learns what another has fetched.
package struct MediaCache: Sendable {
    /// The key of a file.
    package struct Key: Codable, Hashable, Sendable {
        /// The bundle id of the app that asked.
        package var app: BundleID
        /// The address as it was asked for.
        package var url: String

        /// Creates the key of an app and an address.
        package init(app: BundleID, url: String) {
            self.app = app
            self.url = url
        }
    }

    /// The entry of a file.
    package struct Entry: Codable, Hashable, Sendable {
        /// The file's key.
        package var key: Key
        /// The file's name in the folder.
        package var name: String
        /// How many bytes it has.
        package var size: Int64
        /// The file's kind.
        package var kind: FetchedMediaKind
        /// The address that answered, after all redirects.
        package var source: String
        /// The validator for a conditional request to that address.
        package var validator: MediaValidator

        /// A file that is kept.
        package init(
            key: Key, name: String, size: Int64, kind: FetchedMediaKind, source: String, validator: MediaValidator
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

    /// The entry of a key; counts as a use of the file.
    package mutating func find(_ key: Key) -> Entry? {
        guard let entry = entries[key]?.entry else { return nil }
        turns += 1
        entries[key]?.turn = turns
        return entry
    }

    /// Keeps a file, in place of an earlier one of its key.
    ///
    /// - Returns: The entries to delete for it; the new one, where it alone is too large.
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
