import Foundation

// Tokens for later requests to an app, even after a restart (WinRT: RemoteSystemApp.ConnectionToken). A token is the
// base64url form of a version, the device's id and the app's, each ended by a zero byte.

extension RemoteSystemApp {
    /// A text that identifies this app on its device, for later requests:
    /// ``RemoteSystemConnectionRequest/init(connectionToken:)``.
    ///
    /// It grants no permission: the target decides on each request, and its owner revokes the permission with
    /// `aldaba relay deny` or `revoke`. It stays valid as long as the device has its id.
    public var connectionToken: String { ConnectionToken(device: device, app: id).text }
}

extension RemoteSystemConnectionRequest {
    /// Creates a request to the app of a token.
    ///
    /// - Parameter connectionToken: A token from ``RemoteSystemApp/connectionToken`` or
    ///   ``AppServiceConnectionOpenedInfo/callerRemoteConnectionToken``, at most 2,048 bytes.
    /// - Returns: `nil` where it is no such token. The outcome of the request shows whether device and app still exist.
    public init?(connectionToken: String) {
        guard let token = ConnectionToken(connectionToken) else { return nil }
        self.init(remoteSystemApp: RemoteSystemApp(id: token.app, on: token.device))
    }
}

extension AppServiceConnectionOpenedInfo {
    /// A token for later requests to the app that opened the connection; `nil` where that app is not known.
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
