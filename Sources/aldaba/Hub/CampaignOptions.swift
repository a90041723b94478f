import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore

/// The options of which a campaign's document is made.
struct CampaignOptions: ParsableArguments {
    @Option(help: "A file with the campaign's document, or - for standard input; options replace its members.")
    var document: String?
    @Option(help: "The campaign's name.") var name: String?
    @Option(help: "The tag expression of the recipients (default: everybody).") var audience: String?
    @Option(help: "The title.") var title: String?
    @Option(help: "The subtitle.") var subtitle: String?
    @Option(help: "The body.") var body: String?
    @Option(help: "A picture: a file, which is uploaded first, or its https address.") var image: String?
    @Option(help: "A movie: a file, which is uploaded first, or its https address.") var video: String?
    @Option(help: "The address that a tap opens.") var link: String?
    @Option(help: "The category, whose buttons the app defines.") var category: String?
    @Option(help: "The time at which it begins, such as 2030-06-21T09:00:00+02:00.") var at: String?
    @Option(help: "The seconds for which notifications are kept for a device that is away.") var ttl: Int?

    /// The document, as the file and the options say.
    ///
    /// - Throws: ``CommandError`` where the file cannot be read or is no JSON object.
    func tree() throws -> JSONValue {
        var tree = JSONValue.object([])
        if let document {
            let read: Data? =
                document == "-"
                ? FileHandle.standardInput.readDataToEndOfFile() : try PrivateFile.bytes(document).map { Data($0) }
            guard let read else { throw CommandError(.invalidInput, "--document: there is no file \(document)") }
            do { tree = try JSONValue(read) } catch {
                throw CommandError(.invalidInput, "--document: \(document) is no JSON: \(error)")
            }
            guard tree.members != nil else {
                throw CommandError(.invalidInput, "--document: \(document) has no JSON object")
            }
        }
        let outer = [("name", name), ("audience", audience), ("at", at)]
        for (name, value) in outer { if let value { tree.set(name, .string(value)) } }
        if let ttl { tree.set("ttl", .number(String(ttl))) }
        let inner = [
            ("title", title), ("subtitle", subtitle), ("body", body), ("image", image), ("video", video),
            ("link", link), ("category", category),
        ].compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } }
        guard !inner.isEmpty else { return tree }
        var content = tree["content"] ?? .object([])
        for member in inner { content.set(member.name, member.value) }
        tree.set("content", content)
        return tree
    }
}

/// The options that select the server of a hub, and how its answer is printed.
struct CampaignServer: ParsableArguments {
    @Flag(help: "Print the server's JSON.") var json = false
    @OptionGroup var server: ServerOption
    @OptionGroup var signing: SigningOptions

    func client(of hub: String) -> CampaignClient { CampaignClient(hub: hub, server: server, signing: signing) }

    /// Prints an answer as JSON, or in the given words.
    func show(_ answer: JSONValue, _ words: (JSONValue) -> String) throws {
        print(json ? answer.json : TerminalText.lines(words(answer)))
    }
}
