import Foundation
import RelayWire

/// How an address is to be opened.
public struct RemoteLauncherOptions: Hashable, Sendable {
    /// An https page that the target opens if the address cannot be, for certain.
    public var fallbackUri: String?
    /// The bundle ids of the apps that should open it, at most 16, the most wanted first.
    public var preferredAppIds: [String]

    /// Options; there is none that must be given.
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

    /// Opens an address, and says what came of it: whether the target took it, not whether a window is there.
    ///
    /// - Parameters:
    ///   - inputData: What the app that opens it is given beside the address
    ///     (``LaunchUriProvider/onLaunchUri(_:options:inputData:)``), 64 KiB at most; a program of the system's is not.
    ///   - command: The command by which its life can be asked for; given again, it is carried out once.
    /// - Returns: ``RemoteLaunchUriStatus/valueSetTooLarge`` for an address or a fallback of more than 8192 bytes,
    ///   for more than 16 preferred apps, or for input that cannot be sent; nothing is sent then.
    public func launchUri(
        _ uri: String, with request: RemoteSystemConnectionRequest,
        options: RemoteLauncherOptions = RemoteLauncherOptions(), inputData: ValueSet = [:],
        as command: RemoteCommand = RemoteCommand(), within patience: Duration = .seconds(30)
    ) async -> RemoteLaunchUriStatus {
        guard uri.utf8.count <= 8192, (options.fallbackUri ?? "").utf8.count <= 8192,
            options.preferredAppIds.count <= 16,
            let input = try? ValueSetCoding.relay(inputData, limit: AppServiceConnection.defaultMessageLimit)
        else { return .valueSetTooLarge }
        let order = RelayOrder.launch(
            uri: uri, app: request.app, fallback: options.fallbackUri, preferredApps: options.preferredAppIds,
            input: input)
        return RemoteLaunchUriStatus(
            await RelayClient.shared.command(order, id: command.id, on: request.device, within: patience).status)
    }
}
