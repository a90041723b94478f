import AldabaTestSupport
import Foundation
import Testing

@testable import FirebaseCore

struct FirebaseCoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String) throws -> String {
        let path = folder.path("GoogleService-Info.plist")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `options are read of Google's property list`() throws {
        let path = try write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>GOOGLE_APP_ID</key><string>1:42:ios:ab</string>
            <key>GCM_SENDER_ID</key><string>42</string>
            <key>PROJECT_ID</key><string>shop</string>
            <key>BUNDLE_ID</key><string>com.example.shop</string>
            <key>IS_GCM_ENABLED</key><true/>
            </dict></plist>
            """)
        let options = try #require(FirebaseOptions(contentsOfFile: path))
        #expect(options.googleAppID == "1:42:ios:ab")
        #expect(options.gcmSenderID == "42")
        #expect(options.projectID == "shop")
        #expect(options.bundleID == "com.example.shop")
        #expect(options.apiKey == nil)
    }

    @Test func `options are read of a JSON object too`() throws {
        let options = FirebaseOptions(contentsOfFile: try write(#"{"GOOGLE_APP_ID":"a","GCM_SENDER_ID":"42"}"#))
        #expect(options?.gcmSenderID == "42")
    }

    @Test(arguments: [
        ("", "is neither a property list nor a JSON object"),
        ("[1]", "is neither a property list nor a JSON object"),
        (#"{"GOOGLE_APP_ID":"a"}"#, "has no text under the key GCM_SENDER_ID"),
        (#"{"GOOGLE_APP_ID":1,"GCM_SENDER_ID":"42"}"#, "has no text under the key GOOGLE_APP_ID"),
    ])
    func `a file that holds no options is refused with the reason`(text: String, reason: String) throws {
        let path = try write(text)
        #expect(FirebaseOptions(contentsOfFile: path) == nil)
        guard case .failure(let fault) = OptionsFile.read(path) else { return }
        #expect(fault.description == "\(path) \(reason)")
    }

    @Test func `where there is no file it is said where one is sought`() {
        guard case .failure(let fault) = FirebaseOptions.found() else {
            Issue.record("there are options")
            return
        }
        #expect(fault.description.hasPrefix("there is no GoogleService-Info.plist; put the project's file at one of /"))
    }

    @Test func `an app is configured once, and found by its name`() async {
        let options = FirebaseOptions(googleAppID: "a", gcmSenderID: "42")
        FirebaseApp.configure(name: "second", options: options)
        options.gcmSenderID = "43"
        FirebaseApp.configure(name: "second", options: options)
        #expect(FirebaseApp.app(name: "second")?.options.gcmSenderID == "42")
        #expect(FirebaseApp.allApps?["second"]?.name == "second")
        #expect(await FirebaseApp.app(name: "second")?.delete() == true)
        #expect(FirebaseApp.app(name: "second") == nil)
    }

    @Test func `switches are those of the first file that has them`() {
        let settings = FirebaseSettings(files: [
            ["FirebaseAppDelegateProxyEnabled": false],
            [
                "FirebaseAppDelegateProxyEnabled": true, "FirebaseMessagingAutoInitEnabled": "NO",
                "FirebaseMessagingDirectChannelInBackground": "YES",
            ],
        ])
        #expect(!settings.isProxyEnabled)
        #expect(!settings.isAutoInitEnabled)
        #expect(settings.opensInBackground)
        #expect(settings.usesMessagingDelegate == nil)
        #expect(FirebaseSettings(files: []) == FirebaseSettings())
    }
}
