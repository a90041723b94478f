import Foundation
import RelayProtocol

/// How an address is to be opened.
public struct RemoteLauncherOptions: Hashable, Sendable {
    /// An https page that the target opens if the address cannot be, for certain.
    public var fallbackUri: String?
    /// The bundle ids of the apps that should open it, at most 16, the most wanted first.
    public var preferredAppIds: [String]

    /// Creates options; all are optional.
    public init(fallbackUri: String? = nil, preferredAppIds: [String] = []) {
        self.fallbackUri = fallbackUri
        self.preferredAppIds = preferredAppIds
    }

    /// The other generation's name of ``preferredAppIds``.
    public var preferredPackageIds: [String] {
        get { preferredAppIds }
        set { preferredAppIds = newValue }
    }
}

/// Opens addresses on other devices.
public struct RemoteLauncher: Sendable {
    /// A launcher; it has no state.
    public init() {}

    /// Opens an address, and returns the outcome: whether the target accepted it, not whether a window is open.
    ///
    /// - Parameters:
    ///   - inputData: Data for the app that opens the address
    ///     (``LaunchUriProvider/onLaunchUri(_:options:inputData:)``), at most 64 KiB; a system program does not receive
    ///     it.
    ///   - command: The command with which the state of the launch is queried; sent again, it is carried out once.
    /// - Returns: ``RemoteLaunchUriStatus/deniedByLocalSystem`` for what no device opens. Examples are a text without a
    ///   scheme, a `file:` address, a page with a name in front of its host, and a fallback that is no https page.
    ///   ``RemoteLaunchUriStatus/valueSetTooLarge`` for an address or a fallback of more than 8192 bytes, for
    ///   more than 16 preferred apps, or for input that cannot be sent; nothing is sent then.
    public func launchUri(
        _ uri: String, with request: RemoteSystemConnectionRequest,
        options: RemoteLauncherOptions = RemoteLauncherOptions(), inputData: ValueSet = [:],
        as command: RemoteCommand = RemoteCommand(), within timeout: Duration = .seconds(30)
    ) async -> RemoteLaunchUriStatus {
        guard uri.utf8.count <= 8192, (options.fallbackUri ?? "").utf8.count <= 8192,
            options.preferredAppIds.count <= 16,
            let input = try? ValueSetCoding.relay(inputData, limit: AppServiceConnection.defaultMessageLimit)
        else { return .valueSetTooLarge }
        let order = RelayOrder.launch(
            uri: uri, app: request.app, fallback: options.fallbackUri, preferredApps: options.preferredAppIds,
            input: input)
        return RemoteLaunchUriStatus(
            await RelayClient.shared.command(order, id: command.id, on: request.device, within: timeout).status)
    }
}
