import AldabaConfiguration
import ArgumentParser
import Foundation
import RelayProtocol

extension RelayCommand {
    /// `aldaba relay document`.
    struct Document: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Store, list and watch documents that your devices share.",
            subcommands: [Put.self, Get.self, List.self, Remove.self, Watch.self])

        /// `aldaba relay document put`.
        struct Put: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Store a document under a name, in place of an earlier one.",
                discussion: """
                    The content is a JSON object (--message) or words such as `to=Ada`, each a text; at most 8 KiB. With --revision it is
                    refused unless that is the present revision; 0 says that there must be none.
                    """)
            @Argument(help: "The document's name, 1 to 128 bytes of UTF-8.") var name: String
            @Argument(help: ArgumentHelp("A text of the content, by its name.", valueName: "key=value"))
            var texts: [String] = []
            @Option(help: "The content, a JSON object.") var message: String?
            @Option(help: "The present revision; 0 where there must be none.") var revision: Int64?
            @Flag(help: "Print a JSON object.") var json = false
            @OptionGroup var agent: AgentOption

            func validate() throws {
                guard message == nil || texts.isEmpty else {
                    throw ValidationError("the content is either --message or words such as to=Ada")
                }
                guard revision ?? 0 >= 0 else { throw ValidationError("a revision is 0 or more") }
            }

            func run() throws {
                let content =
                    try message.map { try RelayJSON.document($0) } ?? Tell.map(texts, of: "the content")
                if let fault = RelayDocument(app: "", name: name, content: content).fault {
                    throw CommandError(.invalidInput, fault.words(of: "the document's content"))
                }
                let answer = try RelayConversation(agent).document(
                    .put(name: name, content: content, revision: revision))
                try Document.tellRevision(answer, name: name, word: "put", json: json)
            }
        }

        /// `aldaba relay document get`.
        struct Get: ParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Print a document.")
            @Argument(help: "The document's name.") var name: String
            @Flag(help: "Print its name and revision, too, as a JSON object.") var json = false
            @OptionGroup var agent: AgentOption

            func run() throws {
                let answer = try RelayConversation(agent).document(.get(name: name))
                if json { return print(RelayJSON.text(answer)) }
                guard case .dictionary(let content)? = answer["content"] else { throw unexpected() }
                print(TerminalText.lines(RelayJSON.text(content)))
            }
        }

        /// `aldaba relay document list`.
        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "List the documents of terminals: name, revision, and bytes of content.")
            @Flag(help: "Print JSON objects, one a line.") var json = false
            @OptionGroup var agent: AgentOption

            func run() throws {
                let talk = try RelayConversation(agent)
                var place: Int64? = 0
                var unreadable: Int64 = 0
                while let after = place {
                    let answer = try talk.document(.list(after: after))
                    guard case .array(let documents)? = answer["documents"] else { throw unexpected() }
                    for case .dictionary(let document) in documents {
                        print(TerminalText.line(json ? RelayJSON.text(document) : Document.line(document)))
                    }
                    if case .integer(let count)? = answer["unreadable"] { unreadable += count }
                    place = if case .integer(let next)? = answer["next"] { next } else { nil }
                }
                if unreadable > 0 { Terminal.printError("\(unreadable) more cannot be opened") }
            }
        }

        /// `aldaba relay document remove`.
        struct Remove: ParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Remove a document.")
            @Argument(help: "The document's name.") var name: String
            @Option(help: "The present revision; it is not removed where that is another.") var revision: Int64?
            @Flag(help: "Print a JSON object.") var json = false
            @OptionGroup var agent: AgentOption

            func run() throws {
                let answer = try RelayConversation(agent).document(.remove(name: name, revision: revision))
                try Document.tellRevision(answer, name: name, word: "removed", json: json)
            }
        }

        /// `aldaba relay document watch`.
        struct Watch: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Print changes of documents as they come, until Ctrl-C.")
            @Flag(help: "Print JSON objects, one a line.") var json = false
            @OptionGroup var agent: AgentOption

            func run() throws {
                try RelayConversation(agent).watchDocuments { news in
                    let line = json ? RelayJSON.text(news) : Document.line(news)
                    try FileHandle.standardOutput.write(contentsOf: Data((TerminalText.line(line) + "\n").utf8))
                }
            }
        }

        private static func line(_ document: RelayMap) -> String {
            var words: [String] = []
            if document["unreadable"] == true { words.append("cannot be opened") }
            if document["removed"] == true { words.append("removed") }
            if case .string(let name)? = document["name"] { words.append(name) }
            if case .integer(let revision)? = document["revision"] { words.append("revision \(revision)") }
            if case .integer(let bytes)? = document["bytes"] { words.append("\(bytes) bytes") }
            if case .dictionary(let content)? = document["content"] { words.append(RelayJSON.text(content)) }
            return words.joined(separator: "  ")
        }

        private static func tellRevision(_ answer: RelayMap, name: String, word: String, json: Bool) throws {
            guard case .integer(let revision)? = answer["revision"] else { throw unexpected() }
            print(
                json
                    ? RelayJSON.text(["name": .string(name), "revision": .integer(revision)])
                    : TerminalText.line("\(word) \(name)  revision \(revision)"))
        }
    }
}

extension RelayConversation {
    /// Asks about documents.
    ///
    /// - Throws: ``CommandError`` for everything but a success.
    func document(_ order: RelayDocumentOrder) throws -> RelayMap {
        try client.sendRelayRequest(.document(request: 10, order))
        let deadline = ContinuousClock.now + .seconds(35)
        while true {
            guard case .answered(10, _, let outcome) = try client.notice(until: deadline) else { continue }
            guard outcome.status == .success else {
                let words = RelayWords.of(outcome.status)
                throw CommandError(
                    RelayWords.exit(outcome.status), outcome.detail.map { "\(words): \($0)" } ?? words)
            }
            return outcome.message ?? [:]
        }
    }

    /// Reports changes of documents until the connection ends.
    func watchDocuments(_ change: (RelayMap) throws -> Void) throws {
        _ = try document(.watch)
        while true {
            if case .told(10, let news) = try client.notice(until: nil) { try change(news) }
        }
    }
}
