import AldabaConfiguration
import ArgumentParser
import Foundation

/// `aldaba media`: the files that a server keeps for the notifications of a team.
package struct MediaCommand: AsyncParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "media", abstract: "Upload, list and delete the files of notifications.",
        subcommands: [Upload.self, List.self, Delete.self])

    /// Made by the parser, which fills it in.
    package init() {}

    /// `aldaba media upload`.
    struct Upload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Upload a file, and print the address from which devices fetch it.",
            discussion: """
                Takes a picture (JPEG, GIF, PNG) of at most 10 MiB, a sound (AIFF, WAV, MP3, M4A) of at most 5, or a movie \
                (MPEG, MPEG-4, AVI) of at most 50. A file that the team has uploaded before keeps its address.
                """)
        @Argument(help: "The file.") var file: String
        @Flag(help: "Print one JSON object.") var json = false
        @OptionGroup var server: MediaOptions

        func run() async throws {
            let kept = try await server.client().upload(file)
            if json { try print(JSONLine.of(kept)) } else { print(kept.url) }
        }
    }

    /// `aldaba media list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the team's files: name, bytes, type and expiry, one a line.")
        @Flag(help: "Print one JSON object a line.") var json = false
        @OptionGroup var server: MediaOptions

        func run() async throws {
            try await server.client().list { page in
                for file in page {
                    if json {
                        try print(JSONLine.of(file))
                    } else {
                        print(TerminalText.line("\(file.name)  \(file.bytes)  \(file.type)  \(file.expires)"))
                    }
                }
            }
        }
    }

    /// `aldaba media delete`.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete one of the team's files.")
        @Argument(help: "The file's name, as `aldaba media list` tells it, or its address.") var name: String
        @Flag(help: "Print one JSON object.") var json = false
        @OptionGroup var server: MediaOptions

        func run() async throws {
            // Of an address the last part is the name with an ending.
            let last = name.split(separator: "/").last.map(String.init) ?? name
            let plain = last.split(separator: ".").first.map(String.init) ?? last
            guard plain.utf8.count == 40, plain.allSatisfy({ $0.isHexDigit && !$0.isUppercase }) else {
                throw CommandError(.invalidInput, "\"\(name)\" is no file's name, 40 hexadecimal digits")
            }
            let deleted = try await server.client().delete(plain)
            if json { try print(JSONLine.of(deleted)) } else { print(Terminal.text("deleted \(deleted.name)")) }
        }
    }
}

/// The options that select the server, and the signing key.
struct MediaOptions: ParsableArguments {
    @Option(help: "The control API's address, https://host:port; without it the data folder's server's.")
    var control: String?
    @Option(help: "The authority of the server's certificate, PEM; without it the data folder's.") var ca: String?
    @OptionGroup var location: FolderOption
    @OptionGroup var signing: SigningOptions

    func client() throws -> MediaClient {
        MediaClient(
            control: try control ?? location.addresses().control, authority: ca ?? location.authority,
            token: try signing.token(location))
    }
}
