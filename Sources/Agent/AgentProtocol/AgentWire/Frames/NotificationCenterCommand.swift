/// A command of an app to its notification centre. The agent answers them in order.
public enum NotificationCenterCommand: Hashable, Sendable {
    /// Schedules a notification, or shows it at once. Answered by ``CenterAnswer/done`` when it is stored.
    case add(NotificationRequest)
    /// Asks for the requests that have not fired yet.
    case pending
    /// Takes back requests that have not fired yet; `nil` for all.
    case removePending([String]?)
    /// Asks for the notifications that were shown and are still in the list.
    case delivered
    /// Takes notifications out of the list and off the screen; `nil` for all.
    case removeDelivered([String]?)
    /// Adds to the app's categories, and replaces those of the same identifiers; none removes all.
    case setCategories([NotificationCategory])
    /// Asks for the app's categories.
    case categories
    /// Sets the number on the app's icon; 0 takes it away.
    case setBadge(Int)
    /// Asks for the number on the app's icon.
    case badge
}

/// The answer to a ``NotificationCenterCommand``.
public enum CenterAnswer: Hashable, Sendable {
    /// The command is done, and durable.
    case done
    /// The command was refused; `code` is that of `UNError.Code`.
    case failed(code: Int, message: String)
    /// The requests that have not fired yet.
    case pending([NotificationRequest])
    /// The app's notifications that are in the list.
    case delivered([DeliveredNotification])
    /// The categories that the app and its extension have set.
    case categories([NotificationCategory])
    /// The number on the app's icon; 0 for none.
    case badge(Int)
}

extension NotificationCenterCommand: Codable {
    private enum Key: String, CodingKey { case command, notification, identifiers, categories, badge }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func identifiers() throws -> [String]? { try members.decodeIfPresent([String].self, forKey: .identifiers) }
        switch try members.decode(String.self, forKey: .command) {
        case "add": self = .add(try members.decode(NotificationRequest.self, forKey: .notification))
        case "pending": self = .pending
        case "removePending": self = .removePending(try identifiers())
        case "delivered": self = .delivered
        case "removeDelivered": self = .removeDelivered(try identifiers())
        case "setCategories":
            self = .setCategories(try members.decode([NotificationCategory].self, forKey: .categories))
        case "categories": self = .categories
        case "setBadge": self = .setBadge(try members.decode(Int.self, forKey: .badge))
        case "badge": self = .badge
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .command, in: members, debugDescription: "a command of the notification centre")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(name, forKey: .command)
        switch self {
        case .add(let request): try members.encode(request, forKey: .notification)
        case .removePending(let identifiers), .removeDelivered(let identifiers):
            try members.encodeIfPresent(identifiers, forKey: .identifiers)
        case .setCategories(let categories): try members.encode(categories, forKey: .categories)
        case .setBadge(let badge): try members.encode(badge, forKey: .badge)
        case .pending, .delivered, .categories, .badge: break
        }
    }

    /// The name that the command has on the wire.
    private var name: String {
        switch self {
        case .add: "add"
        case .pending: "pending"
        case .removePending: "removePending"
        case .delivered: "delivered"
        case .removeDelivered: "removeDelivered"
        case .setCategories: "setCategories"
        case .categories: "categories"
        case .setBadge: "setBadge"
        case .badge: "badge"
        }
    }
}

extension CenterAnswer: Codable {
    private enum Key: String, CodingKey { case answer, code, message, requests, notifications, categories, badge }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        switch try members.decode(String.self, forKey: .answer) {
        case "done": self = .done
        case "failed":
            self = .failed(
                code: try members.decode(Int.self, forKey: .code),
                message: try members.decode(String.self, forKey: .message))
        case "pending": self = .pending(try members.decode([NotificationRequest].self, forKey: .requests))
        case "delivered":
            self = .delivered(try members.decode([DeliveredNotification].self, forKey: .notifications))
        case "categories":
            self = .categories(try members.decode([NotificationCategory].self, forKey: .categories))
        case "badge": self = .badge(try members.decode(Int.self, forKey: .badge))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .answer, in: members, debugDescription: "an answer of the notification centre")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .done: try members.encode("done", forKey: .answer)
        case .failed(let code, let message):
            try members.encode("failed", forKey: .answer)
            try members.encode(code, forKey: .code)
            try members.encode(message, forKey: .message)
        case .pending(let requests):
            try members.encode("pending", forKey: .answer)
            try members.encode(requests, forKey: .requests)
        case .delivered(let notifications):
            try members.encode("delivered", forKey: .answer)
            try members.encode(notifications, forKey: .notifications)
        case .categories(let categories):
            try members.encode("categories", forKey: .answer)
            try members.encode(categories, forKey: .categories)
        case .badge(let badge):
            try members.encode("badge", forKey: .answer)
            try members.encode(badge, forKey: .badge)
        }
    }
}
