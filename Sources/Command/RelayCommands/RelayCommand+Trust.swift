import ArgumentParser
import CommandCore
import Foundation
import RelayWire

/// Devices that become a person's, what is shared with them, and what they did.
extension RelayCommand {
    /// `aldaba relay pair`.
    struct Pair: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Make another device one of yours: both screens show six digits, and you say whether they are the same.",
            discussion:
                "Without a word, on a device that is one of yours: it prints a word. With it, on the new device.")
        @Argument(help: "The word that the other device printed.") var word: String?
        @OptionGroup var agent: AgentOption

        func run() throws {
            try RelayConversation(agent).pair(
                word,
                waiting: { word in
                    Self.tell("on the other device: aldaba relay pair \(word)")
                },
                compare: { digits in
                    Self.tell("digits: \(digits)")
                    Self.tell("Does the other screen show the same digits? Answer there too. [y/N] ")
                    let areSame = readLine()?.lowercased().hasPrefix("y") ?? false
                    if areSame { Self.tell("waiting for the answer on the other device") }
                    return areSame
                })
            print("paired")
        }

        /// Each line at once, also into a pipe.
        private static func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
    }

    /// `aldaba relay dismiss`.
    struct Dismiss: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Take a device from yours: those that stay get another key, those that are away now must be paired again."
        )
        @Argument(help: "The device's id, or its name where no other has it.") var device: String
        @OptionGroup var agent: AgentOption

        func run() throws {
            let talk = try RelayConversation(agent)
            let answer = try talk.manage(.dismiss(device: talk.device(named: device).id))
            guard case .array(let left)? = answer["left"], !left.isEmpty else { return }
            let names = left.map { if case .string(let name) = $0 { name } else { "" } }.joined(separator: ", ")
            Terminal.complain("away now, and to be paired again: \(TerminalText.line(names))")
        }
    }

    /// `aldaba relay log`.
    struct Log: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "What other devices did here last, and what was asked of them from here: JSON objects, the oldest first.",
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
            abstract: "What other devices may fetch and run here, and where their files are put.",
            subcommands: [ShareFiles.self, SharePhotos.self, ShareProgram.self])
    }

    /// `aldaba relay share files`.
    struct ShareFiles: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "files",
            abstract: "Put files of other devices into this folder, from the agent's next start on.")
        @Argument(help: "The folder.") var folder: String
        @OptionGroup var agent: AgentOption

        func run() throws {
            _ = try RelayConversation(agent).manage(.filesFolder(URL(fileURLWithPath: folder).standardizedFileURL.path))
        }
    }

    /// `aldaba relay share photos`.
    struct SharePhotos: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "photos", abstract: "Let other devices list and fetch the photos of this folder.")
        @Argument(help: "The folder.") var folder: String
        @OptionGroup var agent: AgentOption

        func run() throws {
            _ = try RelayConversation(agent).manage(
                .photosFolder(URL(fileURLWithPath: folder).standardizedFileURL.path))
        }
    }

    /// `aldaba relay share program`.
    struct ShareProgram: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "program", abstract: "Let other devices run a program under a name; without words no more.")
        @Argument(help: "The name.") var name: String
        @Argument(help: "The program and its arguments; those that begin with - after a --.") var words: [String] = []
        @OptionGroup var agent: AgentOption

        func run() throws {
            _ = try RelayConversation(agent).manage(.program(name: name, words: words))
        }
    }
}
