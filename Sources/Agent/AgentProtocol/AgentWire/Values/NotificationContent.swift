import Foundation

/// The content of a notification: Apple's `UNNotificationContent` as agent and apps exchange it.
///
/// In JSON every member may be absent; then it has the value that the initializer gives it.
public struct NotificationContent: Hashable, Sendable {
    /// The first line; empty for none.
    public var title = ""
    /// The second line; empty for none.
    public var subtitle = ""
    /// The text; empty for none.
    public var body = ""
    /// The title as a key of the app's string tables, looked up when the notification is delivered. Where no table
    /// has the key, ``title`` is shown; where that is empty, the key itself.
    public var titleLocalization: Localization?
    /// The subtitle as a key of the app's string tables, looked up like ``titleLocalization``.
    public var subtitleLocalization: Localization?
    /// The body as a key of the app's string tables, looked up like ``titleLocalization``.
    public var bodyLocalization: Localization?
    /// The number on the app's icon; `nil` leaves it, 0 takes it away.
    public var badge: Int?
    /// The sound to play; `nil` for silence.
    public var sound: NotificationSound?
    /// Kept for the app, and without an effect.
    public var launchImageName = ""
    /// The app's own data; an empty object for none.
    public var userInfo = UserInfo.json("{}")
    /// The attached files; the one to show comes first.
    public var attachments: [NotificationAttachment] = []
    /// The identifier of the app's category that the notification belongs to; empty for none.
    public var categoryIdentifier = ""
    /// The identifier of the app's thread that the notification belongs to; empty for none.
    public var threadIdentifier = ""
    /// The identifier of the app's scene that the notification is for; kept for the app.
    public var targetContentIdentifier: String?
    /// How much it may interrupt the person.
    public var interruptionLevel = InterruptionLevel.active
    /// How it ranks among the app's notifications, 0 to 1.
    public var relevanceScore = 0.0
    /// The criterion by which a Focus filters; kept for the app, and without an effect.
    public var filterCriteria: String?
    /// The buttons that the payload brings (`actions` inside `alert`, an old form). They replace those of its
    /// category.
    public var actions: [NotificationActionDescription] = []
    /// The title of the button that opens the notification (`action-loc-key`).
    public var openTitle: Localization?

    /// The progress to show, 0 to 1, where the desktop can show one; `nil` for none.
    public var progress: Double?

    /// The category of a notification that shows a Live Activity.
    public static let liveActivityCategory = "x-aldaba.live-activity"

    /// Whether it shows a Live Activity, which stays on the screen and is replaced in place.
    public var isLiveActivity: Bool { categoryIdentifier == Self.liveActivityCategory }

    /// The category of a notification that reports an incoming call, by the name that desktops have for it.
    public static let incomingCallCategory = "call.incoming"

    /// Whether it reports an incoming call.
    public var isIncomingCall: Bool { categoryIdentifier == Self.incomingCallCategory }

    /// Empty content: every member has its default value.
    public init() {}

    /// Whether there is text to put on the screen.
    public var showsText: Bool { !(shownTitle.isEmpty && shownSubtitle.isEmpty && shownBody.isEmpty) }

    private var shownTitle: String { title.isEmpty ? titleLocalization?.key ?? "" : title }
    private var shownSubtitle: String { subtitle.isEmpty ? subtitleLocalization?.key ?? "" : subtitle }
    private var shownBody: String { body.isEmpty ? bodyLocalization?.key ?? "" : body }

    /// The same content with every localization replaced by its text.
    ///
    /// - Parameter text: Returns the text of a key with its arguments; `nil` when no table has it.
    public func localized(_ text: (Localization) -> String?) -> NotificationContent {
        var content = self
        content.title = titleLocalization.flatMap(text) ?? shownTitle
        content.subtitle = subtitleLocalization.flatMap(text) ?? shownSubtitle
        content.body = bodyLocalization.flatMap(text) ?? shownBody
        content.titleLocalization = nil
        content.subtitleLocalization = nil
        content.bodyLocalization = nil
        return content
    }

    /// Whether a localization is still to be looked up.
    public var needsLocalization: Bool {
        titleLocalization != nil || subtitleLocalization != nil || bodyLocalization != nil
    }

    /// A key of the app's string tables, and the arguments that are put into its text.
    public struct Localization: Codable, Hashable, Sendable {
        /// The key in the table.
        public var key: String
        /// The arguments that replace `%@` and `%1$@`, in their order.
        public var arguments: [String]

        /// Names a text of the app's tables.
        public init(key: String, arguments: [String] = []) {
            self.key = key
            self.arguments = arguments
        }

        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                key: try members.decode(String.self, forKey: .key),
                arguments: try members.member(.arguments, else: []))
        }
    }

    /// The data that an app keeps in a notification for itself.
    public enum UserInfo: Hashable, Sendable {
        /// The text of a JSON object.
        case json(String)
        /// A property list, for what JSON cannot say (dates, data).
        case propertyList(Data)
    }

    /// How much it may interrupt; Apple's `UNNotificationInterruptionLevel`, with its raw values in the payload.
    public enum InterruptionLevel: String, Codable, Sendable, CaseIterable {
        /// Into the list only, and not heard.
        case passive
        /// On the screen and heard, as far as the settings say.
        case active
        /// Passes the quiet hours, where the settings let it.
        case timeSensitive = "time-sensitive"
        /// Passes quiet hours and muted sounds, where the settings let it.
        case critical
    }
}

/// A sound: by name, or the default one.
public struct NotificationSound: Codable, Hashable, Sendable {
    /// The name of a file; `nil` for the default sound.
    public var name: String?
    /// Played also when other sounds are muted.
    public var isCritical: Bool
    /// 0 to 1; of a critical sound only.
    public var volume: Double?

    /// Makes a sound; without a name it is the default one.
    public init(name: String? = nil, isCritical: Bool = false, volume: Double? = nil) {
        self.name = name
        self.isCritical = isCritical
        self.volume = volume
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try members.member(.name, else: nil), isCritical: try members.member(.isCritical, else: false),
            volume: try members.member(.volume, else: nil))
    }
}

/// A file that belongs to a notification.
public struct NotificationAttachment: Codable, Hashable, Sendable {
    /// The app's identifier of the attachment; unique within its notification.
    public var identifier: String
    /// An absolute path.
    public var path: String
    /// A uniform type identifier, such as `public.png`.
    public var type: String
    /// Whether no small picture of it is shown; `nil` when the app did not say.
    public var hidesThumbnail: Bool?
    /// x, y, width and height of the part that is shown small, each 0 to 1.
    public var thumbnailClippingRect: [Double]?
    /// The frame used as the thumbnail: a number of an animation, seconds of a movie.
    public var thumbnailTime: Double?

    /// Names a file. The agent checks, when it takes the file, whether it exists and has the type `type`.
    public init(
        identifier: String, path: String, type: String, hidesThumbnail: Bool? = nil,
        thumbnailClippingRect: [Double]? = nil, thumbnailTime: Double? = nil
    ) {
        self.identifier = identifier
        self.path = path
        self.type = type
        self.hidesThumbnail = hidesThumbnail
        self.thumbnailClippingRect = thumbnailClippingRect
        self.thumbnailTime = thumbnailTime
    }
}
