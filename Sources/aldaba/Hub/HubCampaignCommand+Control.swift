import AldabaConfiguration
import ArgumentParser
import PushCore

extension HubCampaignCommand {
    /// `aldaba hub campaign list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the hub's campaigns, the newest first.")
        @Argument(help: "The hub's name.") var hub: String
        @Option(help: "Only those in these states, separated by commas, such as Scheduled,Processing.")
        var state: String?
        @Option(help: "The number of campaigns, 1 to 100000.") var limit = 100
        @Option(help: "Those after this cursor, as an earlier list tells it.") var after: String?
        @OptionGroup var server: CampaignServer

        func run() async throws {
            guard (1...100_000).contains(limit) else {
                throw CommandError(.invalidInput, "--limit takes 1 to 100000")
            }
            let pages = ServerPages(
                path: server.client(of: hub).path(""), fields: [("state", state)], cursorName: "cursor",
                server: server.server, signing: server.signing)
            let next = try await pages.read(limit: limit, after: after) { (page: Page) in
                for item in page.campaigns { try print(server.json ? JSONLine.of(item) : item.line) }
                return (page.campaigns.count, page.next)
            }
            if let next, !server.json { Terminal.write("there may be more: --after \(next)") }
        }

        private struct Page: Decodable {
            var campaigns: [Item]
            var next: String?
        }

        private struct Item: Codable {
            var id: String
            var state: String
            var enqueuedAt: String
            var dueAt: String?
            var startedAt: String?
            var endedAt: String?
            var targeted: Int
            var name: String?
            var audience: String?
            var reason: String?

            var line: String {
                TerminalText.line("\(enqueuedAt)  \(id)  \(state)  targeted \(targeted)  \(name ?? "")")
            }
        }
    }

    /// `aldaba hub campaign show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a campaign: its state, times and audience, and how far its notifications came.",
            discussion: "With --json the campaign's object has its report as the member `report`.")
        @OptionGroup var target: CampaignArguments

        func run() async throws {
            let client = target.server.client(of: target.hub)
            var campaign = try await client.get("/\(CampaignClient.escaped(target.id))")
            campaign.set("report", try await client.get("/\(CampaignClient.escaped(target.id))/report"))
            try target.server.show(campaign, Self.words)
        }

        private static func words(_ campaign: JSONValue) -> String {
            let times = ["enqueuedAt", "dueAt", "startedAt", "endedAt"].compactMap { name in
                campaign[name]?.text.map { "\(name) \($0)" }
            }
            let steps = (campaign["report"]?["funnel"]?.items ?? []).map { "\($0.words("step")) \($0.words("count"))" }
            var lines = [
                "\(campaign.words("id"))  \(campaign.words("state"))  \(campaign.words("name"))",
                "audience \(campaign["audience"]?.text.flatMap { $0.isEmpty ? nil : $0 } ?? "everybody")",
                times.joined(separator: "  "), steps.joined(separator: "  "),
            ]
            if let reason = campaign["reason"]?.text { lines.append("reason \(reason)") }
            for (title, counts) in [
                ("ends", campaign["report"]?["ends"]), ("left out", campaign["leftOut"]),
                ("variants", campaign["variants"]),
            ] {
                guard let members = counts?.members, !members.isEmpty else { continue }
                lines.append("\(title): \(members.map { "\($0.name) \($0.value.json)" }.joined(separator: "  "))")
            }
            return lines.joined(separator: "\n")
        }
    }

    /// `aldaba hub campaign pause`.
    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pause a campaign: nobody new receives it until it is resumed.")
        @OptionGroup var target: CampaignArguments

        func run() async throws { try await target.change("pause") }
    }

    /// `aldaba hub campaign resume`.
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Resume a campaign: those who have not received it do, once.")
        @OptionGroup var target: CampaignArguments

        func run() async throws { try await target.change("resume") }
    }

    /// `aldaba hub campaign cancel`.
    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a campaign that is scheduled, running or paused. What was sent stays.")
        @OptionGroup var target: CampaignArguments

        func run() async throws { try await target.change("cancel") }
    }

    /// `aldaba hub campaign withdraw`.
    struct Withdraw: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take back what a campaign sent: what waits does not come, and devices remove what they show.")
        @OptionGroup var target: CampaignArguments

        func run() async throws { try await target.change("withdraw") }
    }
}

/// The campaign that a command is about.
struct CampaignArguments: ParsableArguments {
    @Argument(help: "The hub's name.") var hub: String
    @Argument(help: "The campaign's id.") var id: String
    @OptionGroup var server: CampaignServer

    /// Asks for a change of the campaign, and prints its state, or how many notifications were withdrawn.
    func change(_ name: String) async throws {
        let answer = try await server.client(of: hub).post("/\(CampaignClient.escaped(id))/\(name)", nil)
        try server.show(answer) { answer in
            answer["withdrawn"].map { "withdrawn \($0.json)" } ?? "campaign \(id)  \(answer.words("state"))"
        }
    }
}
