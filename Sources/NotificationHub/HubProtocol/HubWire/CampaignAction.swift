import PushCore

/// A button of a campaign's notification.
struct CampaignAction: Hashable, Sendable {
    /// The identifier that the app receives when the button is pressed.
    var id: String
    /// The title of the button, without a language.
    var title: String
    /// The address that the button opens; `nil` where the app decides.
    var link: String?

    /// The largest number of buttons; this server's devices show no more.
    static let most = 8
    /// The most bytes of an id and of a title.
    private static let longest = 64

    /// Reads a list of actions.
    ///
    /// - Throws: which was wrong, and what would be right.
    static func read(_ value: JSONValue?) throws(InstallationError) -> [CampaignAction] {
        guard let value, value != .null else { return [] }
        guard let items = value.items, items.count <= most else {
            throw InstallationError(
                "/actions", "this is to be a list of at most \(most) actions, each with id and title")
        }
        var actions: [CampaignAction] = []
        for (index, item) in items.enumerated() {
            let path = "/actions/\(index)"
            if let unknown = item.members?.first(where: { !["id", "title", "link"].contains($0.name) }) {
                throw InstallationError("\(path)/\(unknown.name)", "there is no such member; there are id, link, title")
            }
            let action = CampaignAction(
                id: try text(item["id"], "\(path)/id"), title: try text(item["title"], "\(path)/title"),
                link: try link(item["link"], "\(path)/link"))
            guard !actions.contains(where: { $0.id == action.id }) else {
                throw InstallationError("\(path)/id", "another action has this id; each has its own")
            }
            actions.append(action)
        }
        return actions
    }

    /// Reads the titles in a language, by the ids of actions.
    ///
    /// - Throws: The fault, and the expected input.
    static func titles(
        _ value: JSONValue?, _ path: String, of actions: [CampaignAction]
    ) throws(InstallationError) -> [String: String] {
        guard let value, value != .null else { return [:] }
        guard let members = value.members else {
            throw InstallationError(path, "this is to be an object: the ids of actions and their titles")
        }
        var titles: [String: String] = [:]
        for member in members {
            guard actions.contains(where: { $0.id == member.name }) else {
                throw InstallationError("\(path)/\(member.name)", "there is no action of this id")
            }
            titles[member.name] = try text(member.value, "\(path)/\(member.name)")
        }
        return titles
    }

    private static func text(_ value: JSONValue?, _ path: String) throws(InstallationError) -> String {
        guard let text = value?.text, (1...longest).contains(text.utf8.count) else {
            throw InstallationError(path, "this is to be a string of 1 to \(longest) bytes")
        }
        return text
    }

    private static func link(_ value: JSONValue?, _ path: String) throws(InstallationError) -> String? {
        guard let value, value != .null else { return nil }
        guard let text = value.text else { throw InstallationError(path, "this is to be a string") }
        return text
    }
}
