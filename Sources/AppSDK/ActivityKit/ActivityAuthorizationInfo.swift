/// The person's permission for the app's Live Activities: that for its notifications.
///
/// Until the agent has answered, it counts as given.
public final class ActivityAuthorizationInfo: Sendable {
    /// A sequence of changes of the permission.
    public typealias ActivityEnablementUpdates = ActivityUpdateSequence<Bool>
    /// A sequence of changes of the permission for frequent pushes.
    public typealias FrequentPushEnablementUpdates = ActivityUpdateSequence<Bool>

    private let center: ActivityCenter

    /// Makes an object, and asks the agent.
    public init() {
        center = .current
        center.askForPermission()
    }

    /// Whether the app may start Live Activities.
    public var areActivitiesEnabled: Bool { center.permission.kept.last ?? true }

    /// Whether the app may get frequent pushes: pushes have no budget here.
    public var frequentPushesEnabled: Bool { areActivitiesEnabled }

    /// The permission, now and whenever it is known to have changed.
    public var activityEnablementUpdates: ActivityEnablementUpdates { ActivityUpdateSequence(center.permission) }

    /// The permission for frequent pushes, which is the same.
    public var frequentPushEnablementUpdates: FrequentPushEnablementUpdates {
        ActivityUpdateSequence(center.permission)
    }
}
