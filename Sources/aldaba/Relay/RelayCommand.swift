import AldabaConfiguration
import ArgumentParser
import Foundation
import RelayProtocol

/// `aldaba relay`: this person's other devices.
package struct RelayCommand: ParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Find your other devices, open addresses there, and call their apps.",
        discussion: """
            EXAMPLES:
              aldaba relay pair                            on a device that is yours already
              aldaba relay devices
              aldaba relay open https://example.com --on NAME
              aldaba relay send picture.png --on NAME
            """,
        subcommands: [
            Devices.self, Watch.self, Open.self, Call.self, Tell.self, Send.self, Media.self, Move.self, Clipboard.self,
            Photos.self,
            Run.self, Life.self, Cancel.self, Status.self, Account.self, Pair.self, Dismiss.self, Log.self, Rename.self,
            Allow.self,
            Forbid.self, Grant.self, Deny.self, Grants.self, Revoke.self, Connections.self, Share.self,
            WakeBy.self, Document.self,
        ])

    /// Made by the parser, which fills it in.
    package init() {}

    /// `aldaba relay devices`.
    struct Devices: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List your other devices and their apps.")
        @Flag(help: "Print a JSON array.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            let talk = try RelayConversation(agent)
            let devices = try talk.devices()
            if json { return print(try JSONLine.of(devices.map(RelayDeviceView.init))) }
            for device in devices { print(RelayDeviceView(device).line) }
            guard devices.isEmpty else { return }
            Terminal.write("you have no other device")
            if let hint = RelayWords.missing(in: try talk.manage(.status)) { Terminal.write(hint) }
        }
    }

    /// `aldaba relay watch`.
    struct Watch: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print your other devices as they connect and disconnect, until Ctrl-C.")
        @Flag(help: "Print JSON objects, one a line.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            let client = try agent.connect()
            try client.sendRelayRequest(.watch(request: 1))
            while true {
                switch try client.notice(until: nil) {
                case .added(let device): try show("added", device)
                case .updated(let device): try show("updated", device)
                case .removed(let id):
                    try printLine(json ? JSONLine.of(["event": "removed", "id": id]) : "removed    \(id)")
                case .received(let id, let path):
                    try printLine(
                        json
                            ? JSONLine.of(["event": "received", "id": id, "path": path])
                            : TerminalText.line("received   \(id)  \(path)"))
                case .enumerationCompleted:
                    if json {
                        try printLine(JSONLine.of(["event": "enumerationCompleted"]))
                    } else {
                        printEnumerationCompleted()
                    }
                case .watchFailed(_, let why): Terminal.printError(why)
                default: break
                }
            }
        }

        private func show(_ event: String, _ device: RelayDevice) throws {
            let view = RelayDeviceView(device)
            try printLine(json ? JSONLine.of(RelayEventView(event: event, device: view)) : "\(event)  \(view.line)")
        }

        /// Writes the end of the list to standard error, since it concerns no device.
        private func printEnumerationCompleted() {
            FileHandle.standardError.write(Data("all of your devices are listed; watching\n".utf8))
        }

        /// Each line at once, also into a pipe.
        private func printLine(_ line: String) throws {
            try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    /// `aldaba relay open`.
    struct Open: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Open an address on another device.")
        @Argument(help: "The address, such as https://example.org/.") var uri: String
        @Option(name: .customLong("on"), help: "The device's id or name; of several of one name the only one online.")
        var device: String
        @Option(help: "The bundle id of the app that is to open it; without it the device chooses.") var app: String?
        @Option(help: "An https page that is opened there if the address cannot be.") var fallback: String?
        @Option(help: "The seconds to wait for the device's answer, 1 to 540.") var within = 30
        @OptionGroup var agent: AgentOption

        func run() throws {
            if let fault = AddressRule.fault(of: uri) { throw CommandError(.invalidInput, fault) }
            if let fallback, AddressRule.scheme(of: fallback) != "https" {
                throw CommandError(.invalidInput, "--fallback must be the address of an https page")
            }
            try RelayWaiting.check(within)
            let talk = try RelayConversation(agent)
            let target = try talk.target(named: device)
            let outcome = try talk.command(
                .launch(uri: uri, app: app, fallback: fallback, preferredApps: []), on: target.id, within: within)
            let detail = outcome.detail.map { ": \($0)" } ?? ""
            print(TerminalText.line(Terminal.text("opened on \(target.name)\(detail)")))
        }
    }

    /// `aldaba relay call`.
    struct Call: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Call an app service on another device, and print its response and the round trip.")
        @Argument(help: "The service's name, or APP/SERVICE as `relay devices` lists it; every device has `ping`.")
        var name: String
        @Option(name: .customLong("on"), help: "The device's id or name; of several of one name the only one online.")
        var device: String
        @Option(help: "The bundle id of the app; without it the one app that offers the service.") var app: String?
        @Option(help: "The message, a JSON object; - reads it from standard input. Without it a ping.")
        var message: String?
        @Option(help: "The most bytes of the message, 262144 at most.") var limit = RelayLimits.message.bytes
        @Option(help: "The seconds to wait for the answer, 1 to 540.") var within = 30
        @Option(help: "The call's id, a UUID, under which it is carried out once and `relay life` tells of it.")
        var id: String?
        @Option(help: "Ask so many times, a million at most, and tell how long the answers took.") var count = 1
        @Option(help: "With --count, how many questions are under way at a time, 64 at most.") var atOnce = 1
        @Flag(help: "Have the server keep it for a device that is away, for five minutes at most.") var wait = false
        @Flag(help: "Print a JSON object.") var json = false
        @OptionGroup var agent: AgentOption

        func validate() throws {
            guard (1...1_000_000).contains(count) else { throw ValidationError("--count is 1 to 1000000") }
            guard (1...64).contains(atOnce) else { throw ValidationError("--at-once is 1 to 64") }
        }

        func run() throws {
            try RelayWaiting.check(within)
            let said = try message.map { try RelayJSON.message($0, limit: limit) }
            let command = try id.map(RelayID.read)
            let talk = try RelayConversation(agent)
            let target = try talk.target(named: device, orOfOthers: true)
            let (app, service) = try RelayServiceName.resolve(name, app: app, on: target)
            let question =
                said ?? [
                    "Type": "ping", "TargetId": .string(target.id),
                    "CreationDate": .date(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)),
                ]
            if count > 1 { return try measure(talk, target: target, app: app, service: service, question: question) }
            let start = ContinuousClock.now
            let outcome = try talk.command(
                .call(app: app, service: service, message: question), on: target.id, within: within, id: command,
                waits: wait)
            let trip = (ContinuousClock.now - start) / .milliseconds(1)
            let answer = RelayJSON.text(outcome.message ?? [:])
            if json {
                print("{\"milliseconds\":\(trip),\"message\":\(answer)}")
            } else {
                print(TerminalText.lines(answer))
                print(Terminal.text("round trip \(String(format: "%.2f", trip)) ms"))
            }
        }

        private func measure(
            _ talk: RelayConversation, target: RelayDevice, app: String, service: String, question: RelayMap
        ) throws {
            let times = try talk.times(
                of: .call(app: app, service: service, message: question), on: target.id, count: count, atOnce: atOnce)
            let sorted = times.trips.sorted()
            let (p50, p99) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
            let rate = Double(sorted.count) / times.seconds
            if json { return print("{\"p50\":\(p50),\"p99\":\(p99),\"rate\":\(rate)}") }
            print(
                String(format: "%d answers: p50 %.3f ms, p99 %.3f ms, %.0f a second", sorted.count, p50, p99, rate))
        }
    }

    /// `aldaba relay status`.
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show this device's id, name and account.")
        @Flag(help: "Print a JSON object.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            let answer = try RelayConversation(agent).manage(.status)
            if json { return print(RelayJSON.text(answer)) }
            func text(_ key: String) -> String {
                if case .string(let text)? = answer[key] { TerminalText.line(text) } else { "not known yet" }
            }
            print(Terminal.text("name      \(text("name"))"))
            print(Terminal.text("device    \(text("device"))"))
            print(
                Terminal.text("account   \(answer["hasAccount"] == true ? "yes" : "none; see `aldaba relay account`")"))
            let isOut = answer["hasAccount"] == true ? "not connected" : "not joined without an account"
            print(Terminal.text("server    \(answer["isConnected"] == true ? "connected" : isOut)"))
            if answer["refusal"] != nil { print(Terminal.text("refused   \(text("refusal"))")) }
            if let hint = RelayWords.missing(in: answer) { print(Terminal.text("missing   \(hint)")) }
        }
    }
}

/// A terminal's exchange of messages with the agent about other devices.
struct RelayConversation {
    let client: AgentClient

    init(_ agent: AgentOption) throws { client = try agent.connect() }

    /// The person's other devices.
    func devices() throws -> [RelayDevice] {
        let deadline = ContinuousClock.now + .seconds(10)
        try client.sendRelayRequest(.watch(request: 1))
        // An agent that does not hear it ends the watching with the connection.
        defer { try? client.sendRelayRequest(.unwatch(request: 2)) }
        var devices: [RelayDevice] = []
        while true {
            switch try client.notice(until: deadline) {
            case .added(let device): devices.append(device)
            case .watchFailed(_, let why): throw CommandError(.unreachable, why)
            case .enumerationCompleted: return devices
            default: break
            }
        }
    }

    /// The device of an id or a name, to which something is to be sent: of several of one name the one that is online.
    ///
    /// - Parameter orOfOthers: Whether it may be another person's, by its id.
    func target(named word: String, orOfOthers: Bool = false) throws -> RelayDevice {
        let named = try devices(named: word)
        let online = named.filter { $0.presence == .online }
        if named.isEmpty, orOfOthers, UInt64(word) != nil { return try deviceOfOthers(word) }
        return try only(online.count == 1 ? online : named, word)
    }

    /// The one device of an id or a name.
    func device(named word: String) throws -> RelayDevice { try only(devices(named: word), word) }

    private func devices(named word: String) throws -> [RelayDevice] {
        let devices = try devices()
        return devices.first { $0.id == word }.map { [$0] } ?? devices.filter { $0.name == word }
    }

    private func only(_ named: [RelayDevice], _ word: String) throws -> RelayDevice {
        guard named.count <= 1 else {
            let each = named.map { "\($0.id) (\($0.presence.rawValue))" }.joined(separator: ", ")
            throw CommandError(.invalidInput, "several devices are called \(word); name one by its id: \(each)")
        }
        guard let device = named.first else {
            throw CommandError(
                .invalidInput, "you have no device \(word); `aldaba relay devices` lists those that there are")
        }
        return device
    }

    private func deviceOfOthers(_ id: String) throws -> RelayDevice {
        try client.sendRelayRequest(.find(request: 8, device: id))
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            switch try client.notice(until: deadline) {
            case .found(8, let device): return device
            case .answered(8, _, let outcome):
                throw CommandError(.invalidInput, outcome.detail ?? RelayWords.of(outcome.status))
            default: break
            }
        }
    }

    /// Gives a command, and waits for what comes of it.
    ///
    /// - Parameters:
    ///   - seconds: How long to wait: 1 to 86,400.
    ///   - moment: The deadline that it names, where that is another than when the waiting ends.
    /// - Throws: ``CommandError`` for everything but a success.
    func command(
        _ order: RelayOrder, on device: String, within seconds: Int, id: UUID? = nil, waits: Bool = false,
        until moment: Int64? = nil, progress: (Int64, Int64) -> Void = { _, _ in }
    ) throws -> RelayOutcome {
        let end = moment ?? Int64(Date().timeIntervalSince1970 * 1000) + Int64(seconds) * 1000
        let id = id ?? UUID()
        try client.sendRelayRequest(.command(request: 3, id: id, device: device, deadline: end, waits: waits, order))
        // The agent itself reports when the deadline has passed.
        let deadline = ContinuousClock.now + .seconds(seconds + 5)
        while true {
            let notice: RelayNotice
            do { notice = try client.notice(until: deadline) } catch let failure as CommandError
                where failure.exit == .unreachable || failure.exit == .timedOut
            {
                let words = RelayWords.of(.outcomeUnknown)
                throw CommandError(.timedOut, "\(words): \(failure) (id \(id.uuidString.lowercased()))")
            }
            if case .progress(3, let done, let size) = notice { progress(done, size) }
            guard case .answered(3, _, let outcome) = notice else { continue }
            guard outcome.status == .success else {
                let words = RelayWords.of(outcome.status)
                throw CommandError(
                    RelayWords.exit(outcome.status), outcome.detail.map { "\(words): \($0)" } ?? words)
            }
            return outcome
        }
    }

    /// Asks the same again and again.
    ///
    /// - Returns: How long each answer took, in milliseconds, and all of them together, in seconds.
    func times(
        of order: RelayOrder, on device: String, count: Int, atOnce: Int
    ) throws -> (trips: [Double], seconds: Double) {
        var starts: [Int64: ContinuousClock.Instant] = [:]
        var trips: [Double] = []
        var next: Int64 = 100
        let begin = ContinuousClock.now
        func ask() throws {
            next += 1
            let end = Int64(Date().timeIntervalSince1970 * 1000) + 30_000
            starts[next] = .now
            try client.sendRelayRequest(.command(request: next, id: nil, device: device, deadline: end, order))
        }
        for _ in 0..<min(count, atOnce) { try ask() }
        while trips.count < count {
            guard case .answered(let number, _, let outcome) = try client.notice(until: .now + .seconds(35)),
                let start = starts.removeValue(forKey: number)
            else { continue }
            guard outcome.status == .success else {
                throw CommandError(RelayWords.exit(outcome.status), outcome.detail ?? RelayWords.of(outcome.status))
            }
            trips.append((ContinuousClock.now - start) / .milliseconds(1))
            if trips.count + starts.count < count { try ask() }
        }
        return (trips, (ContinuousClock.now - begin) / .seconds(1))
    }

    /// The state of a command of the last day.
    func life(of id: UUID) throws -> (life: CommandState?, status: RelayStatus?, detail: String?) {
        try client.sendRelayRequest(.life(request: 5, id: id))
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            if case .life(5, let life, let status, let detail) = try client.notice(until: deadline) {
                return (life, status, detail)
            }
        }
    }

    /// Cancels a command that is in progress.
    func cancel(_ id: UUID) throws {
        try client.sendRelayRequest(.cancel(request: 9, id: id))
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            guard case .answered(9, _, let outcome) = try client.notice(until: deadline) else { continue }
            guard outcome.status != .success else { return }
            throw CommandError(.invalidInput, outcome.detail ?? RelayWords.of(outcome.status))
        }
    }

    /// Pairs with a device. `compare` shows the digits, and returns the user's answer. Given a code, the other device
    /// must be waiting already.
    func pair(_ word: String?, waiting: (String) -> Void, compare: (String) -> Bool) throws {
        try client.sendRelayRequest(.manage(request: 6, .pair(word: word)))
        let begin = ContinuousClock.now
        var deadline = begin + .seconds(word == nil ? 600 : 15)
        while true {
            let notice: RelayNotice
            do { notice = try client.notice(until: deadline) } catch let failure as CommandError
                where failure.exit == .timedOut
            {
                throw CommandError(
                    .timedOut, word.map { "no device waits with the word \($0)" } ?? "no device came to be paired")
            }
            switch notice {
            case .told(6, let news):
                guard case .string(let state)? = news["state"] else { continue }
                if case .string(let word)? = news["word"] { waiting(word) }
                if case .string(let digits)? = news["digits"] {
                    deadline = begin + .seconds(600)
                    try client.sendRelayRequest(.manage(request: 7, .confirm(compare(digits))))
                }
                if state == "paired" { return }
            case .answered(_, _, let outcome) where outcome.status != .success:
                throw CommandError(.failed, outcome.detail ?? RelayWords.of(outcome.status))
            default: break
            }
        }
    }

    /// Sends a user's command about the account.
    func manage(_ management: RelayManagement) throws -> RelayMap {
        try client.sendRelayRequest(.manage(request: 4, management))
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            switch try client.notice(until: deadline) {
            case .managed(4, let answer): return answer
            case .answered(4, _, let outcome):
                throw CommandError(.invalidInput, outcome.detail ?? RelayWords.of(outcome.status))
            default: break
            }
        }
    }
}
