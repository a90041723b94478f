import AgentProtocol
import Foundation

/// A button of a notification. Immutable.
///
/// Sendable is unchecked because the class is open. It and its subclass have only a value that initializers set. A
/// subclass with variables of its own must ensure that it is safe.
open class UNNotificationAction: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    fileprivate final var stored: NotificationActionDescription

    /// A button with a text.
    public init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        stored = NotificationActionDescription(identifier: identifier, title: title, options: options.rawValue)
    }

    /// A button with a text and an icon.
    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?
    ) {
        stored = NotificationActionDescription(
            identifier: identifier, title: title, options: options.rawValue, icon: icon?.wire)
    }

    /// An action of the agent's.
    fileprivate convenience init(_ wire: NotificationActionDescription) {
        self.init(identifier: wire.identifier, title: wire.title)
        stored = wire
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let wire = WireCoding.decode(NotificationActionDescription.self, with: coder) else { return nil }
        stored = wire
    }

    /// The action as it is sent to the agent, by what a subclass says.
    var wire: NotificationActionDescription {
        let input = (self as? UNTextInputNotificationAction).map {
            NotificationActionDescription.TextInput(
                buttonTitle: $0.textInputButtonTitle, placeholder: $0.textInputPlaceholder)
        }
        return NotificationActionDescription(
            identifier: identifier, title: title, options: options.rawValue, icon: icon?.wire, textInput: input)
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { WireCoding.encode(wire, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// The identifier that a response to the action carries.
    open var identifier: String { stored.identifier }
    /// The button's title.
    open var title: String { stored.title }
    /// The button's options.
    open var options: UNNotificationActionOptions { UNNotificationActionOptions(rawValue: stored.options) }
    /// The picture on the button. It is kept and not shown: desktops show icons only instead of text.
    open var icon: UNNotificationActionIcon? { stored.icon.map { UNNotificationActionIcon($0) } }

    /// The action for a description from the agent.
    static func made(of wire: NotificationActionDescription) -> UNNotificationAction {
        wire.textInput == nil ? UNNotificationAction(wire) : UNTextInputNotificationAction(wire)
    }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether the other is the same button.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationAction)?.wire == wire }
    /// The same for equal actions.
    open override var hash: Int { wire.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing(["identifier": identifier, "title": title, "options": options.rawValue, "icon": icon])
    }
}

/// A button that asks for text. Immutable.
///
/// Sendable is unchecked because the base class' is; nothing is stored here.
open class UNTextInputNotificationAction: UNNotificationAction, @unchecked Sendable {
    /// A button that asks for text, with the system's button and an empty field.
    public override init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        super.init(identifier: identifier, title: title, options: options)
    }

    /// A button with an icon that asks for text, with the system's button and an empty field.
    public override init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?
    ) {
        super.init(identifier: identifier, title: title, options: options, icon: icon)
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// A button that asks for text.
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], textInputButtonTitle: String,
        textInputPlaceholder: String
    ) {
        self.init(
            identifier: identifier, title: title, options: options, icon: nil,
            textInputButtonTitle: textInputButtonTitle, textInputPlaceholder: textInputPlaceholder)
    }

    /// A button with an icon that asks for text.
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?,
        textInputButtonTitle: String, textInputPlaceholder: String
    ) {
        self.init(identifier: identifier, title: title, options: options, icon: icon)
        stored.textInput = .init(buttonTitle: textInputButtonTitle, placeholder: textInputPlaceholder)
    }

    /// The title of the button that sends the text.
    open var textInputButtonTitle: String { stored.textInput?.buttonTitle ?? "" }
    /// The placeholder of the empty field.
    open var textInputPlaceholder: String { stored.textInput?.placeholder ?? "" }
}

/// A picture on a button. Immutable.
///
/// Sendable is unchecked because the class is open. It has one value that initializers set. A subclass with variables of
/// its own must ensure that it is safe.
open class UNNotificationActionIcon: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private(set) final var wire: NotificationActionDescription.Icon

    /// A picture of the app's own, by its name.
    public init(templateImageName: String) {
        wire = NotificationActionDescription.Icon(name: templateImageName, isTemplate: true)
    }

    /// A picture of the system's, by its name.
    public init(systemImageName: String) {
        wire = NotificationActionDescription.Icon(name: systemImageName, isTemplate: false)
    }

    convenience init(_ wire: NotificationActionDescription.Icon) {
        self.init(systemImageName: wire.name)
        self.wire = wire
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let wire = WireCoding.decode(NotificationActionDescription.Icon.self, with: coder) else { return nil }
        self.wire = wire
    }

    /// Archives its name.
    open func encode(with coder: NSCoder) { WireCoding.encode(wire, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether the other is the same picture.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationActionIcon)?.wire == wire }
    /// The same for equal pictures.
    open override var hash: Int { wire.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing(["name": wire.name, "isTemplate": wire.isTemplate])
    }
}
