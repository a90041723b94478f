/// The Live Activity that a push of type `liveactivity` is for.
///
/// Servers and devices exchange it as the push's collapse id: of the queued updates of one activity only the newest is
/// delivered.
package enum LiveActivityTarget: Hashable, Sendable {
    /// A new activity, which the push starts.
    case start
    /// The activity with this id: 32 lower-case hexadecimal digits.
    case activity(String)
    /// Every activity that follows the broadcast channel with this id.
    case channel(String)

    private static let activityPrefix = "activity:"
    private static let channelPrefix = "channel:"

    /// The target as a collapse id; `nil` for a start, which replaces nothing.
    package var collapseID: String? {
        switch self {
        case .start: nil
        case .activity(let id): Self.activityPrefix + id
        case .channel(let id): Self.channelPrefix + id
        }
    }

    /// Reads a collapse id; any other text than those of ``collapseID`` is a start's.
    package init(collapseID: String?) {
        if let id = collapseID, id.hasPrefix(Self.activityPrefix) {
            self = .activity(String(id.dropFirst(Self.activityPrefix.count)))
        } else if let id = collapseID, id.hasPrefix(Self.channelPrefix) {
            self = .channel(String(id.dropFirst(Self.channelPrefix.count)))
        } else {
            self = .start
        }
    }

    /// The id of an activity's token that stands for ``start``.
    private static let startDigits = String(repeating: "0", count: 32)

    /// Reads the 32 digits that a token has behind the app's device token.
    ///
    /// - Returns: `nil` for anything but 32 hexadecimal digits.
    package init?(tokenDigits digits: some Collection<UInt8>) {
        guard digits.count == 32, digits.allSatisfy({ Hexadecimal.value($0) != nil }) else { return nil }
        let id = String(decoding: digits, as: UTF8.self).lowercased()
        self = id == Self.startDigits ? .start : .activity(id)
    }

    /// The push token of a target: the app's device token, and 32 digits that name the activity. A channel has none.
    package func token(ofApp deviceToken: String) -> String? {
        switch self {
        case .start: deviceToken + Self.startDigits
        case .activity(let id): deviceToken + id
        case .channel: nil
        }
    }
}
