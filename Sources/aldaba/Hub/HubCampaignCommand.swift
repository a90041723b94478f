import AldabaConfiguration
import ArgumentParser
import PushCore

/// `aldaba hub campaign`: campaigns of a hub, by the hub's own API.
struct HubCampaignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaign", abstract: "Create, try, list and control the campaigns of a hub.",
        discussion: """
            EXAMPLES:
              aldaba hub campaign test harbour --title 'Fresh bread' --image bread.jpg
              aldaba hub campaign create harbour --audience weather --title 'Rain at five'
              aldaba hub campaign create harbour --document campaign.json
              aldaba hub campaign show harbour ID
            """,
        subcommands: [
            Create.self, Preview.self, Test.self, List.self, Show.self, Pause.self, Resume.self, Cancel.self,
            Withdraw.self,
        ])

    /// `aldaba hub campaign create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a campaign, which begins at once or at --at, and print its id.")
        @Argument(help: "The hub's name.") var hub: String
        @OptionGroup var campaign: CampaignOptions
        @Option(help: "Requests with the same key count once.") var idempotencyKey: String?
        @OptionGroup var server: CampaignServer

        func run() async throws {
            let client = server.client(of: hub)
            let answer = try await client.post(
                "", try await client.uploading(campaign.tree()), idempotencyKey: idempotencyKey)
            try server.show(answer) { "campaign \($0.words("id"))  \($0.words("state"))" }
        }
    }

    /// `aldaba hub campaign preview`.
    struct Preview: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what an installation would receive, and when; nothing is sent.",
            discussion: "Files of pictures and films are uploaded, so that the payload has their addresses.")
        @Argument(help: "The hub's name.") var hub: String
        @Option(help: "The id of the installation.") var installation: String
        @OptionGroup var campaign: CampaignOptions
        @OptionGroup var server: CampaignServer

        func run() async throws {
            let client = server.client(of: hub)
            var document = try await client.uploading(campaign.tree())
            document.set("installationId", .string(installation))
            try server.show(try await client.post("/preview", document), Self.words)
        }

        private static func words(_ preview: JSONValue) -> String {
            var lines: [String] = []
            for rendering in preview["renderings"]?.items ?? [] {
                if let name = rendering["name"]?.text { lines.append("\(name):") }
                if let fault = rendering["fault"]?.text {
                    lines.append("no payload: \(fault)")
                    continue
                }
                lines.append(rendering["payload"]?.json ?? "")
                let most = preview["mostBytes"].map { " of \($0.json)" } ?? ""
                lines.append("\(rendering.words("bytes"))\(most) bytes")
            }
            if let at = preview["comesAt"]?.text { lines.append("comes at \(at)") }
            if let end = preview["quietUntil"]?.text { lines.append("quiet hours until \(end)") }
            if let reason = preview["leftOut"]?.text { lines.append("does not come: \(reason)") }
            return lines.joined(separator: "\n")
        }
    }

    /// `aldaba hub campaign test`.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a campaign to test devices at once; it is in no count.")
        @Argument(help: "The hub's name.") var hub: String
        @Option(help: "The id of an installation; repeatable (default: those with the tag test-device).")
        var device: [String] = []
        @OptionGroup var campaign: CampaignOptions
        @OptionGroup var server: CampaignServer

        func run() async throws {
            let client = server.client(of: hub)
            var document = try await client.uploading(campaign.tree())
            if !device.isEmpty { document.set("devices", .array(device.map { .string($0) })) }
            let answer = try await client.post("/test", document)
            let results = (answer["trials"]?.items ?? []).flatMap { trial in
                (trial["results"]?.items ?? []).map { (trial["variant"]?.text, $0) }
            }
            try server.show(answer) { _ in
                results.map { variant, result in
                    "\(variant.map { "\($0)  " } ?? "")\(result.words("installationId"))  \(result.words("outcome"))"
                }.joined(separator: "\n")
            }
            let failed = results.count { $0.1["outcome"]?.text != "Success" }
            guard failed == 0 else {
                throw CommandError(.failed, "\(failed) of \(results.count) notifications were not accepted")
            }
        }
    }
}
