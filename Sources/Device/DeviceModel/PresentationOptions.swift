/// How a notification appears; the raw values are those of `UNNotificationPresentationOptions`.
package struct PresentationOptions: OptionSet, Sendable, Hashable {
    package var rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// It is heard.
    package static let sound = PresentationOptions(rawValue: 2)
    /// It is in the list.
    package static let list = PresentationOptions(rawValue: 8)
    /// It comes to the screen.
    package static let screen = PresentationOptions(rawValue: 16)
    /// It does not appear.
    package static let nothing: PresentationOptions = []

    /// Whether the list alone has it.
    package var isListOnly: Bool { contains(.list) && !contains(.screen) }
}
