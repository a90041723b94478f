import Foundation

// Tokens by which an app is asked later, after a restart too (WinRT: RemoteSystemApp.ConnectionToken). A token is the base64url form of
// a version, the device's id and the app's, each ended by a zero byte.

extension RemoteSystemApp {
    /// A text that names this app on its device, to be kept and asked by later: ``RemoteSystemConnectionRequest/init(connectionToken:)``.
    ///
    /// It permits nothing by itself: what may be asked is decided at the target at each question, and its owner takes that back by
    /// `aldaba relay deny` or `revoke`. It stays good as long as the device has its id.
    public var connectionToken: String { ConnectionToken(device: device, app: id).text }
}

extension RemoteSystemConnectionRequest {
    /// Asks the app of a token.
    ///
    /// - Parameter connectionToken: What ``RemoteSystemApp/connectionToken`` or
    ///   ``AppServiceConnectionOpenedInfo/callerRemoteConnectionToken`` gave, at most 2,048 bytes.
    /// - Returns: `nil` where it is no such token. Whether device and app are still there is told by the question's outcome.
    public init?(connectionToken: String) {
        guard let token = ConnectionToken(connectionToken) else { return nil }
        self.init(remoteSystemApp: RemoteSystemApp(id: token.app, on: token.device))
    }
}

extension AppServiceConnectionOpenedInfo {
    /// A text by which the app that opened the connection is asked later; `nil` where that app is not told.
    public var callerRemoteConnectionToken: String? { remoteSystemApp?.connectionToken }
}

/// A device's id and an app's, as one text.
struct ConnectionToken: Hashable {
    private static let version = "1"
    private static let longestText = 2048

    var device: String
    var app: String

    init(device: String, app: String) {
        self.device = device
        self.app = app
    }

    init?(_ text: String) {
        guard text.utf8.count <= Self.longestText, text.utf8.allSatisfy(Self.isTextByte) else { return nil }
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: base64) else { return nil }
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
            String(validating: $0, as: UTF8.self)
        }
        guard parts.count == 4, parts[0] == Self.version, parts[3] == "", let device = parts[1], let app = parts[2],
            !device.isEmpty, !app.isEmpty
        else { return nil }
        self.init(device: device, app: app)
    }

    var text: String {
        Data("\(Self.version)\0\(device)\0\(app)\0".utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func isTextByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
