import CoreValues
import Foundation
import Synchronization

/// The time zones of this machine, from its zone files. A zone is kept until its file changes.
package final class LocalZones: Sendable {
    /// The zone where the machine is.
    package struct Current: Hashable, Sendable {
        /// The zone's name in the zone files; `nil` where it is not known, such as for a copied `/etc/localtime`.
        package var name: String?
        /// When its clocks are how far from UTC.
        package var rules: ZoneRules

        static let utc = Current(name: "UTC", rules: .utc)
    }

    private struct Kept: Sendable {
        var files: [String: (stamp: ZoneFiles.Stamp, rules: ZoneRules)] = [:]
        /// Foundation's, by their names.
        var sampled: [String: ZoneRules] = [:]
        /// The rules by the names of zones.
        var named: [String: ZoneRules] = [:]
        /// The name of the machine's zone, as long as `localtime` and the file that it leads to are these.
        var localtime: (link: ZoneFiles.Stamp, file: ZoneFiles.Stamp, name: String?)?
        /// The machine's last zone that a file gave, and since when that file cannot be read.
        var current: Current?
        var missingSince: ContinuousClock.Instant?
        /// Equal rules are kept once, under whatever names.
        var shared: Set<ZoneRules> = []

        /// More zones than there are names for are not kept.
        static let most = 2048

        mutating func share(_ rules: ZoneRules) -> ZoneRules {
            if files.count + named.count >= 2 * Self.most { self = Kept() }
            return shared.insert(rules).memberAfterInsert
        }

        /// Returns the same object for a name as long as its rules are the same.
        mutating func interned(_ rules: ZoneRules, named name: String) -> ZoneRules {
            if let known = named[name], known == rules { return known }
            let renamed = rules.named(name)
            named[name] = renamed
            return renamed
        }
    }

    private let files: ZoneFiles
    private let setting: String?
    private let timeout: Duration
    private let kept = Mutex(Kept())

    /// The zones by this process' environment.
    package static let shared = LocalZones(environment: ProcessInfo.processInfo.environment)

    /// The zones of a folder of zone files; nothing is read yet.
    ///
    /// - Parameters:
    ///   - environment: its `TZDIR` is the folder of the zone files instead of `folder`, its `TZ` the machine's zone
    ///     instead of `localtime`.
    ///   - folder: the zone files.
    ///   - localtime: a zone file, or a link to one.
    ///   - timeout: how long the machine's zone file may be missing before that counts.
    package init(
        environment: [String: String], folder: String = "/usr/share/zoneinfo", localtime: String = "/etc/localtime",
        timeout: Duration = timeout
    ) {
        let named = environment["TZDIR"].flatMap { $0.isEmpty ? nil : $0 }
        files = ZoneFiles(folder: named ?? folder, localtime: localtime)
        setting = environment["TZ"]
        self.timeout = timeout
    }

    /// How long the file with the machine's zone may be missing before that counts: some programs remove it before
    /// they write it.
    package static let timeout = Duration.seconds(10)

    /// The rules of the zone that is chosen; `nil` when neither the zone files nor Foundation know it.
    package func rules(for choice: ZoneChoice) -> ZoneRules? {
        switch choice {
        case .floating: named(current())
        case .fixed(let seconds): .fixed(secondsFromGMT: seconds)
        case .named(let name): rules(named: name)
        }
    }

    private func named(_ zone: Current) -> ZoneRules {
        guard let name = zone.name else { return zone.rules }
        return kept.withLock { $0.interned(zone.rules, named: name) }
    }

    /// The rules of a zone by its name, such as `Europe/Berlin`; `nil` when neither the zone files nor Foundation
    /// know it.
    ///
    /// The rules carry the name. A name that leads out of the folder of zone files is unknown. While a file that
    /// was read before is being written, the rules that were read hold.
    package func rules(named name: String) -> ZoneRules? {
        if let path = files.path(named: name) {
            if let rules = read(path) { return kept.withLock { $0.interned(rules, named: name) } }
            if ZoneFiles.stamp(of: path) != nil, let known = kept.withLock({ $0.named[name] }) { return known }
        }
        guard ZoneFiles.isName(name), let zone = TimeZone(identifier: name) else { return nil }
        return sampled(zone, name)
    }

    /// Whether there is a zone file of a name.
    package func hasFile(named name: String) -> Bool { files.path(named: name).flatMap(read) != nil }

    /// The folder of the zone files.
    package var folder: String { files.folder }

    /// The file of the machine's zone: the path in `TZ`, else `/etc/localtime`.
    package var currentFile: String {
        let text = setting.map { $0.hasPrefix(":") ? String($0.dropFirst()) : $0 } ?? ""
        return text.hasPrefix("/") ? text : files.localtime
    }

    /// The machine's zone: by `TZ`, else by `/etc/localtime`, else UTC.
    ///
    /// A `TZ` that cannot be understood is UTC, as for the C library. While the file is missing for a moment, the
    /// earlier zone holds.
    package func current() -> Current {
        guard let setting else { return current(by: files.localtime, named: localtimeName) }
        let text = setting.hasPrefix(":") ? String(setting.dropFirst()) : setting
        if text.hasPrefix("/") { return current(by: text) { files.name(ofPath: text) } }
        if !text.isEmpty, let path = files.path(named: text), let rules = read(path) {
            return Current(name: text, rules: rules)
        }
        if let rules = try? ZoneRules(posix: text) { return Current(name: nil, rules: rules) }
        if !text.isEmpty, let rules = rules(named: text) { return Current(name: text, rules: rules) }
        return .utc
    }

    /// The zone in a file; UTC where there has been none for a while.
    private func current(by path: String, named name: () -> String?) -> Current {
        let found = read(path).map { Current(name: name(), rules: $0) }
        return kept.withLock { kept in
            if let found {
                (kept.current, kept.missingSince) = (found, nil)
                return found
            }
            let since = kept.missingSince ?? .now
            kept.missingSince = since
            guard let last = kept.current, .now - since < timeout else {
                kept.current = nil
                return .utc
            }
            return last
        }
    }

    /// The name of the machine's zone; looked for again when `localtime`, or what it leads to, is another file.
    private func localtimeName() -> String? {
        guard let link = ZoneFiles.linkStamp(of: files.localtime), let file = ZoneFiles.stamp(of: files.localtime)
        else { return files.localtimeName() }
        if let known = kept.withLock({ $0.localtime }), known.link == link, known.file == file { return known.name }
        let name = files.localtimeName()
        kept.withLock { $0.localtime = (link, file, name) }
        return name
    }

    /// The rules in a file; `nil` when it cannot be read as zone rules.
    private func read(_ path: String) -> ZoneRules? {
        guard let stamp = ZoneFiles.stamp(of: path) else { return nil }
        if let known = kept.withLock({ $0.files[path] }), known.stamp == stamp { return known.rules }
        guard let bytes = ZoneFiles.bytes(of: path), let read = try? ZoneRules(file: bytes) else { return nil }
        return kept.withLock { kept in
            let rules = kept.share(read)
            kept.files[path] = (stamp, rules)
            return rules
        }
    }

    /// A zone of Foundation's, by its offsets from 1970 to 2100.
    private func sampled(_ zone: TimeZone, _ name: String) -> ZoneRules {
        if let known = kept.withLock({ $0.sampled[name] }) { return known }
        let end = Timestamp(seconds: 4_102_444_800)
        let read = ZoneRules.sampled(from: Timestamp(seconds: 0), through: end) { zone.secondsFromGMT(for: $0.date) }
        return kept.withLock { kept in
            let rules = kept.interned(kept.share(read), named: name)
            kept.sampled[name] = rules
            return rules
        }
    }
}
