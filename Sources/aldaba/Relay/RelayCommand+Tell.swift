import AldabaConfiguration
import ArgumentParser
import Foundation
import RelayProtocol

extension RelayCommand {
    /// `aldaba relay tell`.
    struct Tell: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Send an app service on another device a message without an answer; it is queued while the device is away.",
            discussion: """
                The message is a JSON object (--message) or words such as `to=Ada`, each a text. It is done when the server keeps the
                message; `aldaba relay life ID` tells what came of it, and `aldaba relay cancel ID` takes it back while it waits.
                """)
        @Argument(help: "The service's name, or APP/SERVICE as `relay devices` lists it.") var name: String
        @Argument(help: ArgumentHelp("A text of the message, by its name.", valueName: "key=value"))
        var texts: [String] = []
        @Option(name: .customLong("on"), help: "The device's id or name; of several of one name the only one online.")
        var device: String
        @Option(help: "The bundle id of the app; without it the one app that offers the service.") var app: String?
        @Option(help: "The message, a JSON object; - reads it from standard input.") var message: String?
        @Option(help: "The most bytes of the message, 262144 at most.") var limit = RelayLimits.message.bytes
        @Option(help: ArgumentHelp("How long it is kept, such as 90s, 2h or 7d; 28 days at most.", valueName: "span"))
        var ttl = "24h"
        @Option(help: "The message's id, a UUID, under which it is given to the app once.") var id: String?
        @Flag(help: "Print a JSON object.") var json = false
        @OptionGroup var agent: AgentOption

        func validate() throws {
            guard message == nil || texts.isEmpty else {
                throw ValidationError("the message is either --message or words such as to=Ada")
            }
        }

        func run() throws {
            let seconds = try TriggerArguments.seconds(ttl, "--ttl", atLeast: 1)
            guard seconds * 1000 <= Double(QueuedMessage.longestAge) else {
                throw CommandError(.invalidInput, "--ttl is 28 days at most")
            }
            let command = try id.map(RelayID.read) ?? UUID()
            let said =
                try message.map { try RelayJSON.message($0, limit: limit) }
                ?? RelayJSON.examined(Self.map(texts), limit: limit)
            let talk = try RelayConversation(agent)
            let target = try talk.target(named: device)
            let (app, service) = try RelayServiceName.resolve(name, app: app, on: target)
            _ = try talk.command(
                .tell(app: app, service: service, message: said), on: target.id, within: 40, id: command,
                until: Int64((Date().timeIntervalSince1970 + seconds) * 1000))
            let id = command.uuidString.lowercased()
            print(
                json
                    ? "{\"id\":\"\(id)\",\"life\":\"sent\"}"
                    : TerminalText.line(Terminal.text("sent to \(target.name)  \(id)")))
        }

        static func map(_ words: [String], of whole: String = "the message") throws -> RelayMap {
            var map: RelayMap = [:]
            for word in words {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, map.updateValue(.string(String(parts[1])), forKey: String(parts[0])) == nil
                else {
                    throw CommandError(.invalidInput, "\(word): \(whole) has words such as to=Ada, each name once")
                }
            }
            return map
        }
    }
}

/// A service as a person names it.
enum RelayServiceName {
    /// The app and the service of a name, `SERVICE` or `APP/SERVICE`.
    static func resolve(
        _ name: String, app: String?, on device: RelayDevice
    ) throws -> (app: String, service: String) {
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        let service = parts.last ?? name
        return (try app ?? (parts.count == 2 ? parts[0] : onlyApp(of: device, offering: service)), service)
    }

    private static func onlyApp(of device: RelayDevice, offering service: String) throws -> String {
        let apps = device.apps.filter { $0.services.contains(service) }
        guard apps.count == 1 else {
            let names = apps.map(\.id).joined(separator: ", ")
            throw CommandError(
                .invalidInput,
                apps.isEmpty
                    ? "no app on \(device.name) offers the service \(service); `aldaba relay devices` lists what there is"
                    : "several apps on \(device.name) offer the service \(service); name one with --app: \(names)")
        }
        return apps[0].id
    }
}
