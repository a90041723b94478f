import Foundation

/// A request for work in the background.
///
/// Sendable is unchecked because the class is open, as Apple's is declared; it is handed over, not shared.
open class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
    /// Names the task.
    public let identifier: String
    /// The earliest time of the work; `nil` for any time.
    open var earliestBeginDate: Date?

    init(identifier: String) { self.identifier = identifier }

    /// A request of its own with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = duplicate()
        copy.earliestBeginDate = earliestBeginDate
        return copy
    }

    func duplicate() -> BGTaskRequest { BGTaskRequest(identifier: identifier) }
}

/// A request to fetch a little.
///
/// Sendable is unchecked as that of its base class.
public final class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// A request for this task.
    public override init(identifier: String) { super.init(identifier: identifier) }

    override func duplicate() -> BGTaskRequest { BGAppRefreshTaskRequest(identifier: identifier) }
}

/// A request for work of minutes.
///
/// Sendable is unchecked as that of its base class.
public final class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Whether the work needs the network.
    public var requiresNetworkConnectivity = false
    /// Whether the work needs a power supply.
    public var requiresExternalPower = false

    /// A request for this task.
    public override init(identifier: String) { super.init(identifier: identifier) }

    override func duplicate() -> BGTaskRequest {
        let copy = BGProcessingTaskRequest(identifier: identifier)
        copy.requiresNetworkConnectivity = requiresNetworkConnectivity
        copy.requiresExternalPower = requiresExternalPower
        return copy
    }
}

/// Work in the background. Nothing makes one on Linux.
open class BGTask: NSObject {
    /// Names the task.
    public let identifier: String
    /// Would be called when the time is over.
    open var expirationHandler: (() -> Void)?

    init(identifier: String) { self.identifier = identifier }

    /// Has no effect.
    open func setTaskCompleted(success: Bool) {}
}

/// Work that fetches a little. Nothing makes one on Linux.
public final class BGAppRefreshTask: BGTask {}

/// Work of minutes. Nothing makes one on Linux.
public final class BGProcessingTask: BGTask {}
