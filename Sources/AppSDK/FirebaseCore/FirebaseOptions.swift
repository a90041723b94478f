import Foundation
import Synchronization

/// The options of an app's project: the content of `GoogleService-Info.plist`.
///
/// This system uses only the sender: the agent knows the app and its server.
public final class FirebaseOptions: NSObject, NSCopying, Sendable {
    private let members: Mutex<[String: String]>

    private init(members: [String: String]) {
        self.members = Mutex(members)
        super.init()
    }

    /// Makes options of an app and its sender (the project's number).
    public convenience init(googleAppID: String, gcmSenderID: String) {
        self.init(members: ["GOOGLE_APP_ID": googleAppID, "GCM_SENDER_ID": gcmSenderID])
    }

    /// Reads a property list, or a JSON object, with the keys of `GoogleService-Info.plist`; `nil` where the file is
    /// neither, or lacks `GOOGLE_APP_ID` or `GCM_SENDER_ID`.
    public convenience init?(contentsOfFile plistPath: String) {
        guard case .success(let members) = OptionsFile.read(plistPath) else { return nil }
        self.init(members: members)
    }

    /// The options in the app's file, whose possible paths are in this target's README; `nil` where there is none.
    public class func defaultOptions() -> FirebaseOptions? {
        if case .success(let members) = OptionsFile.first() { return FirebaseOptions(members: members) }
        return nil
    }

    /// The default options, or why there are none.
    static func found() -> Result<FirebaseOptions, OptionsFault> {
        OptionsFile.first().map(FirebaseOptions.init(members:))
    }

    /// A copy that can be changed by itself.
    public func copy(with zone: NSZone? = nil) -> Any { FirebaseOptions(members: members.withLock { $0 }) }

    /// The app's id (`GOOGLE_APP_ID`).
    public var googleAppID: String {
        get { self["GOOGLE_APP_ID"] ?? "" }
        set { self["GOOGLE_APP_ID"] = newValue }
    }
    /// The project's number (`GCM_SENDER_ID`).
    public var gcmSenderID: String {
        get { self["GCM_SENDER_ID"] ?? "" }
        set { self["GCM_SENDER_ID"] = newValue }
    }
    /// The project's id (`PROJECT_ID`).
    public var projectID: String? {
        get { self["PROJECT_ID"] }
        set { self["PROJECT_ID"] = newValue }
    }
    /// The key of the app (`API_KEY`).
    public var apiKey: String? {
        get { self["API_KEY"] }
        set { self["API_KEY"] = newValue }
    }
    /// The bundle id (`BUNDLE_ID`); empty where the file has none.
    public var bundleID: String {
        get { self["BUNDLE_ID"] ?? "" }
        set { self["BUNDLE_ID"] = newValue }
    }
    /// The OAuth client (`CLIENT_ID`).
    public var clientID: String? {
        get { self["CLIENT_ID"] }
        set { self["CLIENT_ID"] = newValue }
    }
    /// The tracking id (`TRACKING_ID`).
    public var trackingID: String? {
        get { self["TRACKING_ID"] }
        set { self["TRACKING_ID"] = newValue }
    }
    /// The Android client (`ANDROID_CLIENT_ID`).
    public var androidClientID: String? {
        get { self["ANDROID_CLIENT_ID"] }
        set { self["ANDROID_CLIENT_ID"] = newValue }
    }
    /// The database's address (`DATABASE_URL`).
    public var databaseURL: String? {
        get { self["DATABASE_URL"] }
        set { self["DATABASE_URL"] = newValue }
    }
    /// The storage bucket (`STORAGE_BUCKET`).
    public var storageBucket: String? {
        get { self["STORAGE_BUCKET"] }
        set { self["STORAGE_BUCKET"] = newValue }
    }
    /// The scheme of links into the app.
    public var deepLinkURLScheme: String? {
        get { self["DEEP_LINK_URL_SCHEME"] }
        set { self["DEEP_LINK_URL_SCHEME"] = newValue }
    }
    /// The group whose folder the app shares with its extension.
    public var appGroupID: String? {
        get { self["APP_GROUP_ID"] }
        set { self["APP_GROUP_ID"] = newValue }
    }

    private subscript(key: String) -> String? {
        get { members.withLock { $0[key] } }
        set { members.withLock { $0[key] = newValue } }
    }
}

/// Why an app has no options.
struct OptionsFault: Error, CustomStringConvertible {
    let description: String
}

/// The file that holds an app's options.
enum OptionsFile {
    /// The options of the first file that is there.
    static func first() -> Result<[String: String], OptionsFault> {
        let places = AppFiles.options
        guard let path = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            return .failure(
                OptionsFault(
                    description: "there is no GoogleService-Info.plist; put the project's file at one of "
                        + places.joined(separator: ", ")))
        }
        return read(path)
    }

    static func read(_ path: String) -> Result<[String: String], OptionsFault> {
        func fault(_ why: String) -> Result<[String: String], OptionsFault> {
            .failure(OptionsFault(description: "\(path) \(why)"))
        }
        guard let data = FileManager.default.contents(atPath: path) else { return fault("cannot be read") }
        guard let members = AppFiles.members(of: data) else {
            return fault("is neither a property list nor a JSON object")
        }
        let texts = members.compactMapValues { $0 as? String }
        for key in ["GOOGLE_APP_ID", "GCM_SENDER_ID"] where texts[key]?.isEmpty ?? true {
            return fault("has no text under the key \(key)")
        }
        return .success(texts)
    }
}
