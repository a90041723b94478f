import AgentProtocol
import Foundation

/// The alert with which an update of a Live Activity draws attention.
public struct AlertConfiguration: Hashable, Sendable {
    /// The sound of an alert.
    public struct AlertSound: Hashable, Sendable {
        let sound: NotificationSound

        /// The default sound.
        public static let `default` = AlertSound(sound: NotificationSound())

        /// The sound in a file of the app.
        public static func named(_ name: String) -> AlertSound { AlertSound(sound: NotificationSound(name: name)) }
    }

    /// The first line.
    public var title: LocalizedStringResource
    /// The text.
    public var body: LocalizedStringResource
    /// The sound.
    public var sound: AlertSound

    /// Makes an alert.
    public init(title: LocalizedStringResource, body: LocalizedStringResource, sound: AlertSound) {
        self.title = title
        self.body = body
        self.sound = sound
    }

    /// The form in which it is sent to the agent, in the language of the moment.
    var wire: LiveActivityAlert {
        LiveActivityAlert(
            title: String(localized: title), body: String(localized: body), sound: sound.sound)
    }
}
