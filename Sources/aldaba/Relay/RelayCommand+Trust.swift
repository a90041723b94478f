import AldabaConfiguration
import ArgumentParser
import Foundation
import Platform
import RelayProtocol

/// Devices that become a person's, what is shared with them, and what they did.
extension RelayCommand {
    /// `aldaba relay pair`.
    struct Pair: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Pair another device: compare the six digits on both screens.",
            discussion:
                "Without a word, on a device that is one of yours: it prints a word. With it, on the new device.")
        @Argument(help: "The word that the other device printed.") var word: String?
        @OptionGroup var agent: AgentOption

        func run() throws {
            try RelayConversation(agent).pair(
                word,
                waiting: { word in
                    Self.printLine("on the other device: aldaba relay pair \(word)")
                },
                compare: { digits in
                    Self.printLine("digits: \(digits)")
                    Self.printLine("Does the other screen show the same digits? Answer there too. [y/N]")
                    let areSame = ["y", "s"].contains(readLine()?.lowercased().prefix(1) ?? "")
                    if areSame { Self.printLine("waiting for the answer on the other device") }
                    return areSame
                })
            print(Terminal.text("paired"))
        }

        /// Each line at once, also into a pipe.
        private static func printLine(_ line: String) {
            FileHandle.standardOutput.write(Data((Terminal.text(line) + "\n").utf8))
        }
    }

    /// `aldaba relay dismiss`.
    struct Dismiss: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Remove a device from your account: the others get a new key, and absent ones must be paired again."
        )
        @Argument(help: "The device's id, or its name where no other has it.") var device: String
        @OptionGroup var agent: AgentOption

        func run() throws {
            let talk = try RelayConversation(agent)
            let answer = try talk.manage(.dismiss(device: talk.device(named: device).id))
            guard case .array(let left)? = answer["left"], !left.isEmpty else { return }
            let names = left.map { if case .string(let name) = $0 { name } else { "" } }.joined(separator: ", ")
            Terminal.printError("away now, and to be paired again: \(TerminalText.line(names))")
        }
    }

    /// `aldaba relay log`.
    struct Log: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Print the log of commands from and to other devices as JSON objects, the oldest first.",
            discussion: "What was asked from here has `asker`, the app; both devices note the same `id`.")
        @OptionGroup var agent: AgentOption

        func run() throws {
            guard case .array(let lines)? = try RelayConversation(agent).manage(.log)["lines"] else {
                throw unexpected()
            }
            for case .string(let line) in lines { print(TerminalText.line(line)) }
        }
    }

    /// `aldaba relay share`.
    struct Share: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set what other devices may fetch and run here.",
            subcommands: [ShareList.self, ShareFiles.self, SharePhotos.self, ShareProgram.self])
    }

    /// `aldaba relay share list`.
    struct ShareList: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Print what other devices may fetch and run here, as JSON.")
        @OptionGroup var agent: AgentOption

        func run() throws {
            guard case .dictionary(let shared)? = try RelayConversation(agent).manage(.status)["shared"] else {
                throw unexpected()
            }
            print(RelayJSON.text(shared))
        }
    }

    /// A folder that a person names, which must be there.
    private static func folder(_ text: String) throws -> String {
        let path = URL(fileURLWithPath: text).standardizedFileURL.path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandError(.invalidInput, "\(path) is no folder")
        }
        return path
    }

    /// `aldaba relay share files`.
    struct ShareFiles: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "files",
            abstract: "Set the folder for files from other devices.")
        @Argument(help: "The folder.") var folder: String
        @OptionGroup var agent: AgentOption

        func run() throws {
            _ = try RelayConversation(agent).manage(.filesFolder(try RelayCommand.folder(folder)))
        }
    }

    /// `aldaba relay share photos`.
    struct SharePhotos: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "photos",
            abstract: "Share the photos of a folder; without a folder, stop sharing.")
        @Argument(help: "The folder.") var folder: String?
        @OptionGroup var agent: AgentOption

        func run() throws {
            _ = try RelayConversation(agent).manage(.photosFolder(try folder.map(RelayCommand.folder)))
        }
    }

    /// `aldaba relay share program`.
    struct ShareProgram: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "program", abstract: "Let other devices run a program by a name; without a program, stop.",
            discussion: "Arguments that begin with - follow a --: aldaba relay share program free -- df -h /")
        @Argument(help: "The name, 1 to 64 bytes.") var name: String
        @Argument(help: "The program, by its path or its name in PATH, and its arguments.") var words: [String] = []
        @OptionGroup var agent: AgentOption

        func validate() throws {
            guard (1...64).contains(name.utf8.count) else { throw ValidationError("a name has 1 to 64 bytes") }
        }

        func run() throws {
            if let program = words.first,
                ChildProgram.find(program, environment: ProcessInfo.processInfo.environment) == nil
            {
                throw CommandError(.invalidInput, "\(program) is no program that can be run here")
            }
            _ = try RelayConversation(agent).manage(.program(name: name, words: words))
        }
    }
}
