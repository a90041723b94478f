import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer

extension AppCommand {
    /// `aldaba app new`.
    struct New: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the package of a new app, which builds and runs as it is.",
            discussion: """
                The folder NAME gets Package.swift, an entry point, the manifest for the agent and a README with the commands. \
                Without a flag the app has notifications alone.

                EXAMPLES:
                  aldaba app new Harbour
                  aldaba app new Harbour --extension
                  aldaba app new PushDemo --flutter --id com.example.pushdemo
                """)
        @Argument(help: "The name of package, program and folder: Harbour.") var name: String
        @Flag(exclusivity: .exclusive) var kind: AppTemplate.Kind?
        @Option(help: "The bundle id (default: com.example. and the name in lower case).") var id: String?
        @Option(help: "The team that owns it: ten characters A-Z0-9.") var team = DemoApp.team.rawValue
        @Option(help: "The folder of Aldaba's source (default: the one above this program, where it is the source's).")
        var source: String?

        func run() async throws {
            if let fault = AppTemplate.fault(inName: name) { throw CommandError(.invalidInput, fault) }
            let id = id ?? AppTemplate.standardID(of: name)
            guard Topic.hasShape(id), !Topic.isReserved(id) else {
                throw CommandError(
                    .invalidInput, "--id: \"\(id)\" cannot name an app; take one such as com.example.app")
            }
            guard TeamID.hasShape(team) else {
                throw CommandError(.invalidInput, "--team: \"\(team)\" is not ten characters A-Z0-9")
            }
            let folder = URL(fileURLWithPath: name)
            guard !FileManager.default.fileExists(atPath: folder.path) else {
                throw CommandError(.invalidInput, "\(name) is there already; take another name or folder")
            }
            let template = AppTemplate(
                name: name, id: id, team: team, kind: kind, folder: folder.path, source: try sourceFolder())
            var files = template.files.map { ($0.path, Data($0.text.utf8)) }
            if kind == .firebase, let number = ProjectNumber(TeamID(rawValue: team)) {
                let options = FirebaseAppOptions(
                    topic: Topic(rawValue: id), team: TeamID(rawValue: team), number: number)
                files.append(("Sources/\(name)/GoogleService-Info.plist", try options.propertyList()))
            }
            try write(files, to: folder)
            print("\(name): \(id)\n\n    cd \(name)")
            for command in template.commands { print("    \(command)") }
        }

        /// The folder of Aldaba's source.
        private func sourceFolder() throws -> String {
            func text(_ path: String) -> String? {
                FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
            }
            if let source {
                let folder = URL(fileURLWithPath: source).path
                guard AppTemplate.source(above: folder + "/Package.swift", read: text) == folder else {
                    throw CommandError(.invalidInput, "--source: \(source) does not hold Aldaba's Package.swift")
                }
                return folder
            }
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            guard let found = program.flatMap({ AppTemplate.source(above: $0, read: text) }) else {
                throw CommandError(
                    .invalidInput, "Aldaba's source is not above this program; name its folder with --source")
            }
            return found
        }

        private func write(_ files: [(String, Data)], to folder: URL) throws {
            do {
                for (path, content) in files {
                    let file = folder.appendingPathComponent(path)
                    try FileManager.default.createDirectory(
                        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                    try content.write(to: file)
                }
            } catch { throw CommandError(.failed, "\(name) cannot be written: \(error.localizedDescription)") }
        }
    }
}
