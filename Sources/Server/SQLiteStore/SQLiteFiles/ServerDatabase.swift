/// The databases of a server's data folder.
package enum ServerDatabase: String, CaseIterable, Hashable, Sendable {
    /// The register, and all notifications with their timelines.
    case server
    /// The notification hubs.
    case hub
    /// The relay between a person's devices.
    case relay

    /// The name of the file in the data folder.
    package var fileName: String { "\(rawValue).sqlite" }

    /// The system that stands still without the database, for a sentence.
    package var system: String {
        switch self {
        case .server: "the server"
        case .hub: "the notification hubs"
        case .relay: "relaying between devices"
        }
    }
}
