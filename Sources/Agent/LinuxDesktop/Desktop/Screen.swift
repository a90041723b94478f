import AgentEngine
import AgentProtocol
import PushCore

/// The notifications that the server shows, by app and identifier, and the server's number for each. A value.
///
/// Guarantees: a place has one notification; beyond the limit the oldest is forgotten first.
struct Screen: Sendable {
    /// The most shown notifications that are remembered.
    static let limit = 1000

    /// The key of a notification on the screen: its app and identifier.
    struct Place: Hashable, Sendable {
        var app: BundleID
        var identifier: String

        init(_ presentation: Presentation) {
            app = presentation.app
            identifier = presentation.identifier
        }
    }

    struct Shown: Sendable {
        var presentation: Presentation
        var serverID: UInt32
        /// The XDG activation token from the server, with which the app may take the focus.
        var activationToken: String?
        fileprivate var order: UInt64
    }

    private var shown: [Place: Shown] = [:]
    private var places: [UInt32: Place] = [:]
    private var counter: UInt64 = 0

    /// Everything, oldest first.
    var all: [Shown] { shown.values.sorted { $0.order < $1.order } }

    subscript(place: Place) -> Shown? { shown[place] }

    subscript(serverID: UInt32) -> Shown? { places[serverID].flatMap { shown[$0] } }

    /// The entry of a notification; `nil` when it is not shown.
    func find(_ id: NotificationID) -> Shown? { shown.values.first { $0.presentation.notification == id } }

    /// - Returns: The notification whose place it took, when that was another one.
    mutating func show(_ presentation: Presentation, as serverID: UInt32) -> NotificationID? {
        let place = Place(presentation)
        let before = shown[place]
        if let before { places[before.serverID] = nil }
        counter += 1
        shown[place] = Shown(
            presentation: presentation, serverID: serverID,
            activationToken: before?.serverID == serverID ? before?.activationToken : nil, order: counter)
        places[serverID] = place
        if shown.count > Self.limit, let oldest = shown.values.min(by: { $0.order < $1.order }) {
            forget(oldest.serverID)
        }
        guard let id = before?.presentation.notification, id != presentation.notification else { return nil }
        return id
    }

    /// - Returns: Whether this very notification is what is shown in its place; it has the new look then.
    mutating func refresh(_ presentation: Presentation) -> Bool {
        let place = Place(presentation)
        guard let old = shown[place]?.presentation, old.isSame(as: presentation) else { return false }
        shown[place]?.presentation = old.refreshed(by: presentation)
        return true
    }

    mutating func forget(_ serverID: UInt32) {
        if let place = places.removeValue(forKey: serverID) { shown[place] = nil }
    }

    mutating func receive(token: String, for serverID: UInt32) {
        if let place = places[serverID] { shown[place]?.activationToken = token }
    }
}
