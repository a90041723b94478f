import AgentProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation

/// The options of libnotify's `notify-send`, which `aldaba notify` takes too: scripts only change the name of the command.
struct NotifySendOptions: ParsableArguments {
    @Option(name: [.customShort("u"), .long], help: "low, normal or critical, in place of --level.")
    var urgency: String?
    @Option(
        name: [.customShort("A"), .long],
        help: ArgumentHelp(
            "A button, and wait for the answer; may be repeated. A button without an id has its number, from 0.",
            valueName: "id=label"))
    var action: [String] = []
    @Option(
        name: [.customShort("i"), .long], help: "A picture, in place of --image; the name of an icon has no effect.")
    var icon: String?
    @Option(name: [.customShort("a"), .long], help: "The name of a program, which is shown as --subtitle.")
    var appName: String?
    @Option(
        name: [.customShort("r"), .long],
        help: ArgumentHelp("The id of the notification whose place this one takes, as --id.", valueName: "id"))
    var replaceID: String?
    @Flag(name: [.customShort("p"), .customLong("print-id")], help: "Print the id first, also with --wait.")
    var printsID = false
    @Option(
        name: [.customShort("t"), .long],
        help: ArgumentHelp("With --wait: the milliseconds to wait, as --timeout.", valueName: "milliseconds"))
    var expireTime: Int?
    @Option(
        name: [.customShort("h"), .long],
        help: ArgumentHelp(
            "A hint: urgency, image-path, sound-name and suppress-sound count; others have no effect.",
            valueName: "type:name:value"))
    var hint: [String] = []
    @Option(name: [.customShort("c"), .long], help: "Has no effect.") var category: String?
    @Flag(name: [.customShort("e"), .long], help: "Has no effect.") var transient = false

    /// The values of the hints by their names.
    func hints() throws -> [String: String] {
        var values: [String: String] = [:]
        for text in hint {
            let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, Self.types.contains(parts[0].lowercased()), !parts[1].isEmpty else {
                throw CommandError(
                    .usage,
                    "--hint \(text) is not type:name:value, with a type of: \(Self.types.joined(separator: ", "))")
            }
            values[parts[1]] = parts[2]
        }
        return values
    }

    private static let types = ["boolean", "int", "double", "string", "byte", "variant"]

    /// The level of the urgency that is asked for; `nil` where none is.
    func level() throws -> NotificationContent.InterruptionLevel? {
        guard let asked = try urgency ?? hints()["urgency"] else { return nil }
        switch asked {
        // The level passive would come into the list alone, which nobody expects of notify-send.
        case "low", "0", "normal", "1": return .active
        case "critical", "2": return .critical
        default: throw CommandError(.usage, "--urgency must be one of: low, normal, critical")
        }
    }

    /// The path of the picture that is asked for; `nil` where none is, or an icon's name.
    func picture() throws -> String? {
        guard let asked = try icon ?? hints()["image-path"] else { return nil }
        let path = asked.hasPrefix("file://") ? URL(string: asked)?.path ?? asked : asked
        return path.contains("/") ? path : nil
    }

    /// Whether a hint asks for a sound; `nil` where none does.
    func sounds() throws -> Bool? {
        let hints = try hints()
        if hints["suppress-sound"].map({ ["true", "1"].contains($0.lowercased()) }) == true { return false }
        return hints["sound-name"] != nil || hints["sound-file"] != nil ? true : nil
    }

    /// The buttons as `id=label`.
    var buttons: [String] {
        action.enumerated().map { number, text in text.contains("=") ? text : "\(number)=\(text)" }
    }
}
