import AldabaConfiguration
import ArgumentParser
import Crypto
import Foundation
import PushCore
import PushServer

extension AppCommand {
    /// `aldaba app config`.
    struct Config: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the file by which an app configures Firebase.",
            discussion: """
                A file whose name ends in .plist is a GoogleService-Info.plist, any other is JSON with the same keys, such as \
                PROGRAM.firebase.json beside the app's program.
                """)
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @Option(help: "The file (default: standard output, as JSON).") var output: String?
        @OptionGroup var location: FolderOption

        func run() async throws {
            let app = try await ServerRegister.reading(location.folder) { store in
                try await CertificateCommand.app(Topic(rawValue: topic), store)
            }
            guard let number = ProjectNumber(app.team) else {
                throw CommandError(.failed, "team \(app.team) has no project number")
            }
            let options = FirebaseAppOptions(topic: app.topic, team: app.team, number: number)
            guard let output else {
                return print(String(decoding: try options.json(), as: UTF8.self))
            }
            let isList = output.hasSuffix(".plist")
            let file = URL(fileURLWithPath: output)
            do { try (isList ? options.propertyList() : options.json()).write(to: file, options: .atomic) } catch {
                throw CommandError(.failed, "\(output) cannot be written: \(error.localizedDescription)")
            }
            print(Terminal.text("\(output): sender \(number), project \(ProjectName.id(of: app.team))"))
        }
    }
}

/// The options of an app's Firebase project, with the keys of `GoogleService-Info.plist`. None is a secret.
struct FirebaseAppOptions {
    private let texts: [String: String]

    /// Derives the options of an app from its team, which is the project.
    init(topic: Topic, team: TeamID, number: ProjectNumber) {
        let project = ProjectName.id(of: team)
        let digest = Hexadecimal.text(SHA256.hash(data: Data(topic.rawValue.utf8)).prefix(8))
        texts = [
            "API_KEY": "AIza" + String(Hexadecimal.text(SHA256.hash(data: Data(project.utf8))).prefix(35)),
            "BUNDLE_ID": topic.rawValue, "GCM_SENDER_ID": number.description,
            "GOOGLE_APP_ID": "1:\(number):ios:\(digest)", "PLIST_VERSION": "1", "PROJECT_ID": project,
            "STORAGE_BUCKET": "\(project).appspot.com",
        ]
    }

    private var members: [String: Any] { (texts as [String: Any]).merging(["IS_GCM_ENABLED": true]) { $1 } }

    /// The options as XML, as Firebase's console gives them.
    func propertyList() throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: members, format: .xml, options: 0)
    }

    /// The options as a JSON object.
    func json() throws -> Data {
        try JSONSerialization.data(
            withJSONObject: members, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]) + Data("\n".utf8)
    }
}
