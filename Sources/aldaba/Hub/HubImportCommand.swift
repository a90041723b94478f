import AldabaConfiguration
import ArgumentParser
import Foundation
import HubProtocol
import HubServer
import PushCore
import Scheduling

extension HubCommand {
    /// `aldaba hub import`.
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import installations from a file: JSON Lines, one installation a line.",
            discussion: """
                Lines that are no installations are told and left out; the others are put. The server may be running. Doing it \
                again changes nothing but the entity tags.
                """)
        @Argument(help: "The hub's name.") var hub: String
        @Argument(help: "The file; - for the standard input.") var file: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        /// The most faults that are reported one by one.
        private static let mostTold = 100

        /// Reads lines, and refuses what a request would be refused for.
        private static func read(
            _ lines: [(line: Int, text: [UInt8]?)]
        ) -> ([ReadInstallation], [InstallationLines.Fault]) {
            // Each zone is looked up once a slice.
            var zones: [String: Bool] = [:]
            return InstallationLines.installations(lines, at: presentTime()) {
                installation throws(InstallationError) in
                try InstallationValidator.check(installation) { name in
                    if let known = zones[name] { return known }
                    let isZone = LocalZones.shared.rules(named: name) != nil
                    zones[name] = isZone
                    return isZone
                }
            }
        }

        func run() async throws {
            let handle: FileHandle
            if file == "-" {
                handle = .standardInput
            } else {
                guard let opened = FileHandle(forReadingAtPath: file) else {
                    throw CommandError(.invalidInput, "\(file) cannot be read; is it there?")
                }
                handle = opened
            }
            var lines = InstallationLines { try handle.read(upToCount: $0) ?? Data() }
            let begin = ContinuousClock.now
            let (put, added, wrong, excess) = try await HubRegister.changing(
                location.folder, .importInstallations, hub: hub,
                after: { (counts: (Int, Int, Int, Int?)) in
                    AuditedObject(["put": counts.0, "added": counts.1, "wrong": counts.2])
                }
            ) { database in
                let hub = try await HubCommand.find(hub, database)
                try await database.prepareImport()
                var (put, added, wrong) = (0, 0, 0)
                var next = try lines.next(InstallationLines.slice)
                var reading = Task { [next] in Self.read(next) }
                while !next.isEmpty {
                    let (installations, faults) = await reading.value
                    // The next lines are read while these are written.
                    next = try lines.next(InstallationLines.slice)
                    reading = Task { [next] in Self.read(next) }
                    for fault in faults.prefix(max(0, Self.mostTold - wrong)) {
                        FileHandle.standardError.write(Data("\(file), \(fault)\n".utf8))
                    }
                    wrong += faults.count
                    added += try await database.importAll(installations, hub: hub.number, at: presentTime())
                    put += installations.count
                }
                let size = try await database.size(of: hub.number)
                return (
                    put, added, wrong, size.installations > hub.limits.installations ? hub.limits.installations : nil
                )
            }
            let (whole, part) = (ContinuousClock.now - begin).components
            let seconds = Double(whole) + Double(part) / 1e18
            if json {
                print(#"{"put":\#(put),"added":\#(added),"wrong":\#(wrong),"seconds":\#(seconds)}"#)
            } else {
                print(
                    Terminal.text(
                        "\(put) installations put into hub \(hub), \(added) of them new; \(wrong) lines left out"))
            }
            if let excess {
                FileHandle.standardError.write(
                    Data(
                        "the hub has more than the \(excess) installations of its quota: new ones are refused until `aldaba hub limit \(hub)` allows more\n"
                            .utf8))
            }
            if wrong > 0 { throw CommandError(.invalidInput, "\(wrong) lines are no installations") }
        }
    }
}
