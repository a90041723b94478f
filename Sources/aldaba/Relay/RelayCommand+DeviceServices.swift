import AldabaConfiguration
import ArgumentParser
import Foundation
import RelayAgent
import RelayProtocol

/// An id that a person writes.
enum RelayID {
    static func read(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else {
            throw CommandError(.invalidInput, "an id is a UUID, such as \(UUID().uuidString.lowercased())")
        }
        return id
    }
}

/// How long a person waits for what comes of a command.
enum RelayWaiting {
    /// Refuses what is no such time.
    static func check(_ seconds: Int, atMost most: Int = 540) throws {
        guard (1...most).contains(seconds) else {
            throw CommandError(.invalidInput, "--within is 1 to \(most) seconds")
        }
    }
}

/// Files, and what the agent of another device itself offers.
extension RelayCommand {
    /// The options that select a device, and the agent on this machine.
    struct Target: ParsableArguments {
        @Option(name: .customLong("on"), help: "The device's id or name; of several of one name the only one online.")
        var device: String
        @OptionGroup var agent: AgentOption

        /// Asks a service of the device's agent.
        func ask(_ service: String, _ message: RelayMap, within seconds: Int = 60) throws -> RelayMap {
            let talk = try RelayConversation(agent)
            let target = try talk.target(named: device)
            return try talk.command(
                .call(app: RelayHost.ownApp, service: service, message: message), on: target.id, within: seconds
            ).message ?? [:]
        }
    }

    /// `aldaba relay send`.
    struct Send: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a file to another device. An interrupted transfer is resumed.")
        @Argument(help: "The file.") var file: String
        @Option(
            help: "How many seconds it may take, 86400 at most; what is interrupted goes on when the device is back.")
        var within = 3600
        @Flag(help: "Print a JSON object.") var json = false
        @OptionGroup var target: Target

        func run() throws {
            try RelayWaiting.check(within, atMost: 86_400)
            let path = URL(fileURLWithPath: file).standardizedFileURL.path
            if let fault = RelayFiles.fault(of: path) { throw CommandError(.invalidInput, fault) }
            guard let offer = RelayFiles.offer(of: path) else {
                throw CommandError(.invalidInput, "\(path) cannot be sent")
            }
            let talk = try RelayConversation(target.agent)
            let device = try talk.target(named: target.device)
            let start = ContinuousClock.now
            let isShown = !json && isatty(STDERR_FILENO) == 1
            let outcome = try talk.command(.file(path: path, offer), on: device.id, within: within) { done, size in
                guard isShown else { return }
                FileHandle.standardError.write(Data("\r\(done * 100 / max(1, size)) %".utf8))
            }
            if isShown { FileHandle.standardError.write(Data("\r".utf8)) }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            if json {
                return print(
                    RelayJSON.text([
                        "name": .string(outcome.detail ?? offer.name), "size": .integer(offer.size),
                        "seconds": .double(seconds),
                    ]))
            }
            print(TerminalText.line(Terminal.text("sent to \(device.name) as \(outcome.detail ?? offer.name)")))
        }
    }

    /// `aldaba relay life`.
    struct Life: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Show the state of a command by its id; without one, list the last commands.")
        @Argument(help: "The id, as `aldaba relay life` and `aldaba relay log` print it.") var id: String?
        @Flag(help: "Print JSON objects, one a line.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            guard let id else { return try list() }
            let known = try RelayConversation(agent).life(of: RelayID.read(id))
            guard let life = known.life else { throw CommandError(.invalidInput, "no command of this id is known") }
            if json {
                var told: RelayMap = ["id": .string(id), "life": .string(life.rawValue)]
                if let status = known.status { told["status"] = .string(status.rawValue) }
                if let detail = known.detail { told["detail"] = .string(detail) }
                return print(RelayJSON.text(told))
            }
            let words =
                [life.rawValue] + (known.status.map { [RelayWords.of($0)] } ?? []) + (known.detail.map { [$0] } ?? [])
            print(TerminalText.line(words.joined(separator: ": ")))
        }

        private func list() throws {
            guard case .array(let commands)? = try RelayConversation(agent).manage(.commands)["commands"] else {
                throw unexpected()
            }
            for case .dictionary(let command) in commands {
                if json {
                    print(TerminalText.line(RelayJSON.text(command)))
                    continue
                }
                func text(_ key: String) -> String { if case .string(let text)? = command[key] { text } else { "" } }
                var id = ""
                if case .uuid(let value)? = command["id"] { id = value.uuidString.lowercased() }
                let name = text("name").isEmpty ? text("device") : text("name")
                print(TerminalText.line("\(id)  \(text("life"))  \(text("what"))  \(name)  \(text("status"))"))
            }
        }
    }

    /// `aldaba relay cancel`.
    struct Cancel: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel a running command.",
            discussion: "`aldaba relay life` lists the ids. What the other device has done already stays done.")
        @Argument(help: "The command's id.") var id: String
        @OptionGroup var agent: AgentOption

        func run() throws { try RelayConversation(agent).cancel(RelayID.read(id)) }
    }

    /// `aldaba relay media`.
    struct Media: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the media players of another device; `--do pause --player NAME` and others order one.")
        @Option(name: .customLong("do"), help: "list, play, pause or stop.") var what = "list"
        @Option(help: "The player's name, as it is listed.") var player: String?
        @OptionGroup var target: Target

        func validate() throws {
            guard ["list", "play", "pause", "stop"].contains(what) else {
                throw ValidationError("--do is list, play, pause or stop")
            }
            guard what == "list" || player != nil else { throw ValidationError("--do \(what) needs --player") }
        }

        func run() throws {
            var message: RelayMap = ["do": .string(what)]
            if let player { message["player"] = .string(player) }
            print(try TerminalText.lines(RelayJSON.text(target.ask("media", message))))
        }
    }

    /// `aldaba relay move`.
    struct Move: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Continue playback on another device; it pauses here once it plays there.")
        @Option(help: "The player here; without it the one that plays.") var player: String?
        @Option(help: "The player there; without it one that opens such addresses.") var into: String?
        @OptionGroup var target: Target

        func run() throws {
            let here = try MediaPlayers()
            let all = try here.all()
            guard
                let playing = try player.map({ try Self.find($0, in: all) })
                    ?? all.first(where: { $0.status == "Playing" })
            else {
                throw CommandError(.invalidInput, "nothing plays here")
            }
            guard !playing.uri.isEmpty, !playing.uri.hasPrefix("file:") else {
                throw CommandError(
                    .invalidInput,
                    "\(playing.name) plays a file of this device; send it with `aldaba relay send` and open it there")
            }
            var message: RelayMap = [
                "do": "take", "uri": .string(playing.uri), "position": .integer(playing.position),
                "rate": .double(playing.status == "Playing" ? playing.rate : 0),
                "at": .date(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)),
            ]
            if let into { message["player"] = .string(into) }
            // A player that does not play there after ten seconds is stopped there, and here nothing has changed.
            let answer = try target.ask("media", message, within: 10)
            try here.order("Pause", playing.name)
            guard case .string(let name)? = answer["player"], case .integer(let position)? = answer["position"] else {
                throw unexpected()
            }
            print(
                TerminalText.line(
                    "\(playing.title.isEmpty ? playing.uri : playing.title) plays in \(name) at \(position / 1_000_000) s"
                ))
        }

        private static func find(_ name: String, in players: [MediaPlayers.Player]) throws -> MediaPlayers.Player {
            do { return try MediaPlayers.find(name, in: players) } catch {
                throw CommandError(.invalidInput, "here: \(error)")
            }
        }
    }

    /// `aldaba relay clipboard`.
    struct Clipboard: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print or set the clipboard of another device.")
        @Option(help: "The text to put there.") var set: String?
        @OptionGroup var target: Target

        func run() throws {
            if let set {
                _ = try target.ask("clipboard", ["do": "set", "text": .string(set)])
            } else {
                guard case .string(let text)? = try target.ask("clipboard", ["do": "get"])["text"] else {
                    throw unexpected()
                }
                print(TerminalText.lines(text))
            }
        }
    }

    /// `aldaba relay photos`.
    struct Photos: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List or fetch the photos that another device shares.")
        @Option(help: "The name of the photo that is to be sent; it is put where files of other devices are.")
        var fetch: String?
        @Option(help: "The name of the photo of which a small picture is wanted, a PNG that --output takes.")
        var thumb: String?
        @Option(help: "The file into which the small picture is written.") var output: String?
        @Option(help: "The page, of a hundred photos each, from 0.") var page: Int = 0
        @OptionGroup var target: Target

        func validate() throws {
            if (thumb == nil) != (output == nil) { throw ValidationError("--thumb and --output go together") }
            guard page >= 0 else { throw ValidationError("--page is 0 or more") }
        }

        func run() throws {
            if let thumb, let output {
                let answer = try target.ask("photos", ["do": "thumb", "name": .string(thumb)])
                guard case .data(let picture)? = answer["picture"] else { throw unexpected() }
                return try Data(picture).write(to: URL(fileURLWithPath: output))
            }
            if let fetch {
                _ = try target.ask("photos", ["do": "fetch", "name": .string(fetch)])
                return print(Terminal.text("it is on its way; `aldaba relay watch` tells when it is here, and where"))
            }
            let message: RelayMap = ["do": "list", "page": .integer(Int64(page))]
            print(try TerminalText.lines(RelayJSON.text(target.ask("photos", message))))
        }
    }

    /// `aldaba relay run`.
    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run a listed program on another device, and print its output.")
        @Argument(help: "The name under which it is listed.") var name: String
        @OptionGroup var target: Target

        func run() throws {
            guard case .string(let output)? = try target.ask("run", ["name": .string(name)])["output"] else {
                throw unexpected()
            }
            print(TerminalText.lines(output), terminator: "")
        }
    }
}
