import AgentProtocol
import PushCore

/// How the notifications of apps' extensions ended since the agent began, by the extensions' versions: a value.
///
/// Bounded: of an app the last ``versionLimit`` versions are kept.
package struct ExtensionCounts: Sendable {
    /// How many versions of one app's extension are counted apart.
    package static let versionLimit = 4

    private var counts: [BundleID: [(version: String, outcomes: [ExtensionOutcome: Int64])]] = [:]

    /// Nothing is counted.
    package init() {}

    /// Counts the outcome of a notification.
    package mutating func count(_ outcome: ExtensionOutcome, of app: BundleID, version: String) {
        var versions = counts[app] ?? []
        let place = versions.firstIndex { $0.version == version } ?? versions.count
        if place == versions.count { versions.append((version, [:])) }
        versions[place].outcomes[outcome, default: 0] += 1
        counts[app] = versions.suffix(Self.versionLimit)
    }

    /// The counts of an app by version, in the order in which the versions were first counted.
    package func versions(of app: BundleID) -> [AgentStatus.ExtensionVersion] {
        (counts[app] ?? []).map { version, outcomes in
            AgentStatus.ExtensionVersion(
                version: version,
                outcomes: Dictionary(uniqueKeysWithValues: outcomes.map { ($0.key.rawValue, $0.value) }))
        }
    }
}
