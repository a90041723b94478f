/// A kind of notification with its buttons: Apple's `UNNotificationCategory` as agent and apps exchange it.
public struct NotificationCategory: Codable, Hashable, Sendable {
    /// The identifier by which notifications name the category; unique within the app.
    public var identifier: String
    /// The buttons, in the order in which they are shown.
    public var actions: [NotificationActionDescription]
    /// Kept for the app, and without an effect.
    public var intentIdentifiers: [String]
    /// `UNNotificationCategoryOptions` (raw value).
    public var options: UInt
    /// The text shown instead of the body where previews are hidden; `nil` for the agent's own text.
    public var hiddenPreviewsBodyPlaceholder: String?
    /// The text that summarizes several notifications: `%u` is replaced by their number, `%@` by their subject.
    public var categorySummaryFormat: String?

    /// Makes a category; without more than an identifier it has no buttons.
    public init(
        identifier: String, actions: [NotificationActionDescription] = [], intentIdentifiers: [String] = [],
        options: UInt = 0, hiddenPreviewsBodyPlaceholder: String? = nil, categorySummaryFormat: String? = nil
    ) {
        self.identifier = identifier
        self.actions = actions
        self.intentIdentifiers = intentIdentifiers
        self.options = options
        self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder
        self.categorySummaryFormat = categorySummaryFormat
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            identifier: try members.decode(String.self, forKey: .identifier),
            actions: try members.member(.actions, else: []),
            intentIdentifiers: try members.member(.intentIdentifiers, else: []),
            options: try members.member(.options, else: 0),
            hiddenPreviewsBodyPlaceholder: try members.member(.hiddenPreviewsBodyPlaceholder, else: nil),
            categorySummaryFormat: try members.member(.categorySummaryFormat, else: nil))
    }

    /// The app is notified of a dismissal; Apple's `customDismissAction`.
    public static let customDismissAction: UInt = 1
    /// The title is shown where previews are hidden; Apple's `hiddenPreviewsShowTitle`.
    public static let hiddenPreviewsShowTitle: UInt = 4
    /// The subtitle is shown where previews are hidden; Apple's `hiddenPreviewsShowSubtitle`.
    public static let hiddenPreviewsShowSubtitle: UInt = 8
}

/// A button of a notification.
public struct NotificationActionDescription: Codable, Hashable, Sendable {
    /// The identifier that the app receives when the button is chosen; unique within the category.
    public var identifier: String
    /// The text of the button.
    public var title: String
    /// `UNNotificationActionOptions` (raw value).
    public var options: UInt
    /// The icon of the button; `nil` for the title alone.
    public var icon: Icon?
    /// The text field of a button that asks for text.
    public var textInput: TextInput?

    /// Makes a button; without `textInput` it asks for no text.
    public init(
        identifier: String, title: String, options: UInt = 0, icon: Icon? = nil, textInput: TextInput? = nil
    ) {
        self.identifier = identifier
        self.title = title
        self.options = options
        self.icon = icon
        self.textInput = textInput
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            identifier: try members.decode(String.self, forKey: .identifier),
            title: try members.decode(String.self, forKey: .title), options: try members.member(.options, else: 0),
            icon: try members.member(.icon, else: nil), textInput: try members.member(.textInput, else: nil))
    }

    /// An icon by its name.
    public struct Icon: Codable, Hashable, Sendable {
        /// The image's or symbol's name.
        public var name: String
        /// Whether the name is one of the app's own images and not one of the system's symbols.
        public var isTemplate: Bool

        /// Names an icon; whether there is such an image is not checked.
        public init(name: String, isTemplate: Bool) {
            self.name = name
            self.isTemplate = isTemplate
        }

        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                name: try members.decode(String.self, forKey: .name),
                isTemplate: try members.member(.isTemplate, else: false))
        }
    }

    /// The labels of the text field.
    public struct TextInput: Codable, Hashable, Sendable {
        /// The title of the button that sends the text.
        public var buttonTitle: String
        /// The text that the field shows while it is empty.
        public var placeholder: String

        /// Makes the texts around the field; both may be empty.
        public init(buttonTitle: String, placeholder: String) {
            self.buttonTitle = buttonTitle
            self.placeholder = placeholder
        }

        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                buttonTitle: try members.member(.buttonTitle, else: ""),
                placeholder: try members.member(.placeholder, else: ""))
        }
    }

    /// The button works only while the screen is not locked; Apple's `authenticationRequired`.
    public static let authenticationRequired: UInt = 1
    /// The button destroys something; Apple's `destructive`.
    public static let destructive: UInt = 2
    /// The button brings the app to the front; Apple's `foreground`.
    public static let foreground: UInt = 4
}
