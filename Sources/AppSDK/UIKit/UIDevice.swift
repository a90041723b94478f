import Foundation

/// This machine.
@preconcurrency @MainActor
public final class UIDevice: NSObject {
    /// This machine.
    public static let current = UIDevice()

    /// The machine's name on the network.
    public var name: String { ProcessInfo.processInfo.hostName }
    /// `Linux`.
    public var model: String { "Linux" }
    /// `Linux`.
    public var localizedModel: String { "Linux" }
    /// `Linux`.
    public var systemName: String { "Linux" }
    /// The kernel's version, such as `6.1.0`.
    public var systemVersion: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }
    /// Always `unspecified`.
    public var userInterfaceIdiom: UIUserInterfaceIdiom { .unspecified }

    /// An identifier of this app for this user on this machine, always the same. `nil` for an app without an id,
    /// and on a machine without one.
    public var identifierForVendor: UUID? { VendorIdentifier.current }
}

/// The kind of device that an app runs on. Raw values are Apple's.
public enum UIUserInterfaceIdiom: Int, Sendable {
    /// Nothing of the below.
    case unspecified = -1
    /// A phone.
    case phone = 0
    /// A tablet.
    case pad = 1
    /// A television.
    case tv = 2
    /// A car.
    case carPlay = 3
    /// A Mac.
    case mac = 5
}
