import AldabaConfiguration
import ArgumentParser
import HubServer

extension HubCommand {
    /// `aldaba hub limit`.
    struct Limit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show or set a hub's quotas.",
            discussion: """
                A key that may put installations is in every copy of an app, so that anybody may put any number. A running server \
                refuses what would pass a quota from the next request on; what is there stays, and can be replaced and deleted.
                """)
        @Argument(help: "The hub's name.") var hub: String
        @Option(help: "Installations that it holds at most; their documents may take 1 KiB each on the average.")
        var installations: Int?
        @Option(help: "Distinct tags of its installations at most; each takes some 300 bytes of memory.") var tags: Int?
        @Option(help: "Writes in a second by one key that only listens, after a burst of half a minute's worth.")
        var writes: Int?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            if installations != nil || tags != nil || writes != nil { try await change() }
            let (limits, size) = try await HubRegister.withDatabase(location.folder) { database in
                let found = try await HubCommand.find(hub, database)
                return (found.limits, try await database.size(of: found.number))
            }
            if json {
                return try print(
                    JSONLine.of([
                        "installations": size.installations, "mostInstallations": limits.installations,
                        "documentBytes": size.documentBytes, "mostDocumentBytes": limits.documentBytes,
                        "mostTags": limits.tags, "writesPerSecond": limits.writesPerSecond,
                    ]))
            }
            print(Terminal.text("installations  \(size.installations) of \(limits.installations)"))
            print(Terminal.text("documents      \(size.documentBytes) of \(limits.documentBytes) bytes"))
            print(Terminal.text("tags           at most \(limits.tags)"))
            print(
                Terminal.text("writes         at most \(limits.writesPerSecond) a second by one key that only listens"))
        }

        private func change() async throws {
            _ = try await HubRegister.changing(
                location.folder, .setHubLimits, hub: hub,
                before: { try await $0.hub(named: hub).map { Self.audited($0.limits) } }, after: Self.audited
            ) { database in
                let found = try await HubCommand.find(hub, database)
                var limits = found.limits
                limits.installations = try Self.checked(installations, "--installations") ?? limits.installations
                limits.tags = try Self.checked(tags, "--tags") ?? limits.tags
                limits.writesPerSecond = try Self.checked(writes, "--writes") ?? limits.writesPerSecond
                try await database.setLimits(limits, of: found.number)
                return limits
            }
        }

        private static func audited(_ limits: HubLimits) -> AuditedObject {
            AuditedObject([
                "installations": limits.installations, "tags": limits.tags, "writesPerSecond": limits.writesPerSecond,
            ])
        }

        private static func checked(_ number: Int?, _ option: String) throws -> Int? {
            guard let number, !(1...HubLimits.greatest).contains(number) else { return number }
            throw CommandError(.invalidInput, "\(option): 1 to \(HubLimits.greatest) would be right")
        }
    }
}
