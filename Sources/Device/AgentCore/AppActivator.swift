/// Brings apps to the front over the session bus, which starts those that do not run; a port.
public protocol AppActivator: Sendable {
    /// Calls `Activate` of the app's org.freedesktop.Application (Desktop Entry Specification, "D-Bus Activation").
    ///
    /// Returns at once. `complete` is called exactly once on any thread, within half a minute also when nobody
    /// answers; after the presenter's end not at all.
    func activate(_ activation: AppActivation, then complete: @escaping @Sendable (AppActivationOutcome) -> Void)
}

/// Which app is brought to the front.
public struct AppActivation: Hashable, Sendable {
    /// A valid bus name, which is that of the desktop file too.
    public var busName: String
    /// What lets the app take the focus.
    public var token: String?

    /// The object that the name's owner has: dots become slashes, and what paths cannot hold becomes `_`.
    public var path: String {
        "/" + busName.replacing(".", with: "/").replacing("-", with: "_")
    }

    /// - Parameter busName: Must be valid, see ``isBusName(_:)``.
    public init(busName: String, token: String?) {
        self.busName = busName
        self.token = token
    }

    /// Whether a text is a well-known bus name: two or more words of `A-Z a-z 0-9 _ -`, none of which begins with a
    /// digit, with dots between them; at most 255 bytes (D-Bus Specification, "Bus names").
    public static func isBusName(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && words.count >= 2
            && words.allSatisfy { word in
                guard let first = word.first, !isDigit(first) else { return false }
                return word.allSatisfy {
                    isDigit($0) || isLetter($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
                }
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
}

/// What became of an activation.
public enum AppActivationOutcome: Hashable, Sendable {
    /// The app runs and was told.
    case activated
    /// It does not run, and nobody starts it, and why: it can be started otherwise at once.
    case notStarted(reason: String)
    /// It was not heard of, and why; it may run all the same, or be starting.
    case unanswered(reason: String)
}
