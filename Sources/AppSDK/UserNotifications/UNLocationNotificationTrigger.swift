import AgentProtocol
import CoreLocation
import Foundation

/// Fires when a circle on the earth is entered or left.
///
/// Sendable is unchecked because the base class' is; nothing is stored here.
open class UNLocationNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// A trigger of the agent's.
    convenience init(_ wire: NotificationTrigger) {
        self.init(region: Self.nowhere, repeats: false)
        archive = .asked(wire)
    }

    /// Fires when the region is entered or left, as its present `notifyOnEntry` and `notifyOnExit` demand; keeps a copy
    /// of it. A region that is not a `CLCircularRegion` never fires.
    public init(region: CLRegion, repeats: Bool) {
        let circle = region as? CLCircularRegion
        super.init(
            .asked(
                .region(
                    NotificationTrigger.Region(
                        identifier: region.identifier, latitude: circle?.center.latitude ?? 0,
                        longitude: circle?.center.longitude ?? 0, radius: circle?.radius ?? 0,
                        onEntry: circle != nil && region.notifyOnEntry,
                        onExit: circle != nil && region.notifyOnExit), repeats: repeats)))
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    private static var nowhere: CLRegion {
        CLCircularRegion(center: CLLocationCoordinate2D(), radius: 0, identifier: "")
    }

    /// A copy of the region.
    open var region: CLRegion {
        guard case .asked(.region(let wire, _)) = archive else {
            return Self.nowhere
        }
        let region = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: wire.latitude, longitude: wire.longitude), radius: wire.radius,
            identifier: wire.identifier)
        region.notifyOnEntry = wire.onEntry
        region.notifyOnExit = wire.onExit
        return region
    }
}
