import AgentWire
import Foundation

/// What the agent itself reads of a payload: enough to choose a handler and to show something.
///
/// Members of the wrong type are taken as absent; nothing in a payload can make this fail.
/// Names are those of Apple's page "Generating a remote notification".
struct PayloadGlance: Hashable, Sendable {
    var title = ""
    var subtitle = ""
    var body = ""
    var hasSound = false
    var hasBadge = false
    var wakesInBackground = false
    var category = ""
    var level = InterruptionLevel.active

    /// Apple's `interruption-level`.
    enum InterruptionLevel: String, Sendable, CaseIterable {
        case passive
        case active
        case timeSensitive = "time-sensitive"
        case critical
    }

    init() {}

    init(payload: [UInt8]) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any],
            let aps = object["aps"] as? [String: Any]
        else { return }
        if let text = aps["alert"] as? String {
            body = text
        } else if let alert = aps["alert"] as? [String: Any] {
            title = alert["title"] as? String ?? ""
            subtitle = alert["subtitle"] as? String ?? ""
            body = alert["body"] as? String ?? ""
        }
        hasSound = aps["sound"] is String || aps["sound"] is [String: Any]
        hasBadge = aps["badge"] is NSNumber
        wakesInBackground = (aps["content-available"] as? NSNumber) == 1
        category = aps["category"] as? String ?? ""
        level = (aps["interruption-level"] as? String).flatMap(InterruptionLevel.init) ?? .active
    }

    /// Whether there is text to put on the screen.
    var showsText: Bool { !(title.isEmpty && subtitle.isEmpty && body.isEmpty) }

    /// The handlers that an active app gets it with.
    ///
    /// A payload that neither shows, sounds nor badges goes to the background handler, as on Apple's systems.
    var kind: DeliveryKind {
        let interacts = showsText || hasSound || hasBadge
        if interacts { return wakesInBackground ? .foregroundAndBackground : .foreground }
        return .background
    }
}
