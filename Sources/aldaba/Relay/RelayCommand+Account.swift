import AldabaConfiguration
import ArgumentParser
import Foundation
import RelayProtocol

/// The commands about this device's account, and the access rights of other devices.
extension RelayCommand {
    /// `aldaba relay account`.
    struct Account: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add this device to your account.",
            subcommands: [Show.self, Join.self, Leave.self])

        /// `aldaba relay account show`.
        struct Show: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract:
                    "Print the account's secret key, which lets a device join; it is made if there is none."
            )
            @Flag(
                help:
                    "Draw it as a QR code, by `qrencode`; the other device takes what its camera reads: `relay account join`."
            )
            var qr = false
            @OptionGroup var agent: AgentOption

            func run() throws {
                guard case .string(let key)? = try RelayConversation(agent).manage(.showAccount)["key"] else {
                    throw unexpected()
                }
                if qr { return print(try QRCode.render(key), terminator: "") }
                print(key)
            }
        }

        /// `aldaba relay account join`.
        struct Join: ParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Join an account by its key.")
            @Argument(
                help: "The key that `aldaba relay account show` printed; without it, it is read from standard input.")
            var key: String?
            @OptionGroup var agent: AgentOption

            func run() throws {
                guard let key = key ?? readLine() else { throw CommandError(.invalidInput, "no key was given") }
                _ = try RelayConversation(agent).manage(.join(key: key))
            }
        }

        /// `aldaba relay account leave`.
        struct Leave: ParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Remove this device from your account.")
            @OptionGroup var agent: AgentOption

            func run() throws { _ = try RelayConversation(agent).manage(.leave) }
        }
    }

    /// `aldaba relay rename`.
    struct Rename: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Set the name of this device.")
        @Argument(help: "The name.") var name: String
        @OptionGroup var agent: AgentOption

        func run() throws { _ = try RelayConversation(agent).manage(.rename(name)) }
    }

    /// `aldaba relay allow`.
    struct Allow: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let your other devices open addresses of a scheme here; http and https are always allowed.")
        @Argument(help: "The scheme, such as mailto.") var scheme: String
        @OptionGroup var agent: AgentOption

        func run() throws { _ = try RelayConversation(agent).manage(.scheme(scheme, allowed: true)) }
    }

    /// `aldaba relay forbid`.
    struct Forbid: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a scheme that `aldaba relay allow` added.")
        @Argument(help: "The scheme.") var scheme: String
        @OptionGroup var agent: AgentOption

        func run() throws { _ = try RelayConversation(agent).manage(.scheme(scheme, allowed: false)) }
    }

    /// `aldaba relay connections`.
    struct Connections: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set when idle connections between apps end.")
        @Option(help: "After how many seconds without a message; 0 for never.") var idle: Int64?
        @Option(help: "How many seconds one outlives the loss of the way to the other device.") var grace: Int64?
        @Flag(help: "Print a JSON object.") var json = false
        @OptionGroup var agent: AgentOption

        func validate() throws {
            guard [idle, grace].allSatisfy({ $0.map { (0...86_400).contains($0) } ?? true }) else {
                throw ValidationError("that is 0 to 86400 seconds")
            }
        }

        func run() throws {
            let answer = try RelayConversation(agent).manage(.connections(idle: idle, grace: grace))
            guard case .integer(let idle)? = answer["idle"], case .integer(let grace)? = answer["grace"] else {
                throw unexpected()
            }
            if json { return print(RelayJSON.text(["idle": .integer(idle), "grace": .integer(grace)])) }
            print(Terminal.text("idle      \(idle == 0 ? "never ends" : "ends after \(idle) s")"))
            print(Terminal.text("grace     \(grace) s after the loss of the way"))
        }
    }

    /// `aldaba relay wake-by`.
    struct WakeBy: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "wake-by",
            abstract: "Set the push channel that wakes this device; without one, remove it.",
            discussion: "The server must have credentials for the push service (its setting relay-wake-hub).")
        @Argument(help: "The push service: apns or fcm.") var service: String?
        @Argument(help: "The token that it gave the app.") var token: String?
        @Option(help: "The environment of an APNs token, production or sandbox; without it the credential's.")
        var environment: String?
        @OptionGroup var agent: AgentOption

        func validate() throws { _ = try channel }

        func run() throws { _ = try RelayConversation(agent).manage(.wakeBy(try channel)) }

        private var channel: RelayWakeChannel? {
            get throws {
                guard let word = service else { return nil }
                guard let service = RelayWakeChannel.Service(rawValue: word) else {
                    throw ValidationError("the push service is apns or fcm")
                }
                guard let token, (1...RelayWakeChannel.longestToken).contains(token.utf8.count) else {
                    throw ValidationError("a token has 1 to \(RelayWakeChannel.longestToken) bytes")
                }
                let environment = environment.map { RelayWakeChannel.Environment(rawValue: $0) }
                if case .some(nil) = environment { throw ValidationError("the environment is production or sandbox") }
                return RelayWakeChannel(service: service, token: token, environment: environment ?? nil)
            }
        }
    }

    /// The arguments that identify a grant.
    struct GrantArguments: ParsableArguments {
        @Argument(help: "The device that calls, by its id, or its name where no other has it; * for any of yours.")
        var device: String
        @Argument(help: "The bundle id of the app here.") var app: String
        @Argument(help: "The name of its service.") var service: String

        func validate() throws {
            guard !app.isEmpty, !service.isEmpty else { throw ValidationError("an app and a service have names") }
        }

        /// The device's id. One that is no device's of this person's may be another person's, with or without its key's
        /// mark.
        func deviceID(_ talk: RelayConversation) throws -> String {
            if device == "*" || UInt64(device.prefix { $0 != "#" }) != nil { return device }
            return try talk.device(named: device).id
        }
    }

    /// `aldaba relay grant`.
    struct Grant: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Grant a device access to a service that needs consent.")
        @OptionGroup var grant: GrantArguments
        @Option(help: ArgumentHelp("For so long, such as 90s, 2h or 7d; else until it is revoked.", valueName: "span"))
        var `for`: String?
        @Flag(help: "Only while the screen here is unlocked.") var unlocked = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            let seconds = try `for`.map { Int64(try TriggerArguments.seconds($0, "--for", atLeast: 1)) }
            let talk = try RelayConversation(agent)
            _ = try talk.manage(
                .grant(
                    device: grant.deviceID(talk), app: grant.app, service: grant.service, allowed: true,
                    seconds: seconds,
                    needsUnlocked: unlocked))
        }
    }

    /// `aldaba relay deny`.
    struct Deny: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deny a device access to a service, without asking again.",
            discussion:
                "`aldaba relay revoke` takes it back. What is said of one device counts before what is said of all.")
        @OptionGroup var grant: GrantArguments
        @OptionGroup var agent: AgentOption

        func run() throws {
            let talk = try RelayConversation(agent)
            _ = try talk.manage(
                .deny(device: grant.deviceID(talk), app: grant.app, service: grant.service))
        }
    }

    /// `aldaba relay grants`.
    struct Grants: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the grants and denials: device, app and service.")
        @Flag(help: "Print JSON objects, one a line.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            let talk = try RelayConversation(agent)
            var first: Int64 = 0
            while case .array(let page)? = try talk.manage(.grants(from: first))["grants"], !page.isEmpty {
                for case .dictionary(let grant) in page {
                    print(TerminalText.line(json ? RelayJSON.text(grant) : Self.line(of: grant)))
                }
                first += Int64(page.count)
            }
        }

        private static func line(of grant: RelayMap) -> String {
            func text(_ key: String) -> String { if case .string(let text)? = grant[key] { text } else { "" } }
            let word = grant["granted"] == true ? "granted" : "denied "
            var line = "\(word)  \(text("device"))  \(text("app"))/\(text("service"))  \(text("name"))"
            if case .date(let milliseconds)? = grant["until"] {
                line += "  until \(Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601))"
            }
            if grant["unlocked"] == true { line += "  while the screen is unlocked" }
            return line
        }
    }

    /// `aldaba relay revoke`.
    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a grant or a denial.")
        @OptionGroup var grant: GrantArguments
        @OptionGroup var agent: AgentOption

        func run() throws {
            let talk = try RelayConversation(agent)
            _ = try talk.manage(
                .grant(device: grant.deviceID(talk), app: grant.app, service: grant.service, allowed: false))
        }
    }
}
