import AgentProtocol

/// How a notification appears, in the bits of `PresentationOption`.
package struct PresentationOptions: OptionSet, Sendable, Hashable {
    /// The bits, as the store keeps them.
    package var rawValue: Int64

    /// Keeps bits that have no meaning here.
    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// It plays its sound.
    package static let sound = PresentationOptions(rawValue: Int64(PresentationOption.sound))
    /// It is in the list.
    package static let list = PresentationOptions(rawValue: Int64(PresentationOption.list))
    /// It comes to the screen.
    package static let screen = PresentationOptions(rawValue: Int64(PresentationOption.banner))
    /// It does not appear.
    package static let nothing: PresentationOptions = []
    /// All of them.
    package static let all: PresentationOptions = [.sound, .list, .screen]

    /// Whether the list alone has it.
    package var isListOnly: Bool { contains(.list) && !contains(.screen) }
}
