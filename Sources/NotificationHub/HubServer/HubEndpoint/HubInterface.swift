import Foundation
import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The hub's routes on the control API's listeners: Azure's data plane under `/{hub}/`, the API of the tutorial's
/// backend under `/api/notifications/`, and our own under `/v1/hubs/`.
package struct HubInterface: ControlInterface {
    let hubs: NotificationHubs
    let access: HubAccess
    let timelines: any TimelineService
    let withdrawal: any NotificationWithdrawal
    let authentication: any ProviderAuthentication
    let slots: StreamSlots
    let rates: HubWriteRates

    /// Creates the interface of some hubs.
    ///
    /// - Parameters:
    ///   - timelines: Knows what became of each notification.
    ///   - withdrawal: Takes notifications back.
    ///   - authentication: Judges provider tokens, which our own API takes beside signatures.
    ///   - names: The names by which clients reach the server, for which signatures are made.
    ///   - rates: Counts the writes of keys that anybody may have.
    package init(
        hubs: NotificationHubs, timelines: any TimelineService, withdrawal: any NotificationWithdrawal,
        authentication: any ProviderAuthentication, names: @escaping @Sendable () -> ServerNames,
        senderTime: @escaping @Sendable (Timestamp) -> Timestamp = { $0 }, rates: HubWriteRates
    ) {
        self.hubs = hubs
        access = HubAccess(store: hubs.store, names: names, senderTime: senderTime)
        self.timelines = timelines
        self.withdrawal = withdrawal
        self.authentication = authentication
        self.rates = rates
        slots = StreamSlots(limit: 64, label: "aldaba_hub_report_streams")
    }

    /// Adds the routes of all three APIs.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        let writes = HubWriteGate(rates: rates, isSecured: isSecured)
        AzureRoutes(hubs: hubs, access: access, writes: writes).add(to: router)
        BackendRoutes(hubs: hubs, access: access, writes: writes).add(to: router)
        OwnRoutes(
            hubs: hubs, access: access, writes: writes,
            providers: ProviderAccess(authentication: isSecured ? authentication : nil),
            timelines: timelines, withdrawal: withdrawal, slots: slots
        ).add(to: router)
        PayloadCheckRoute(access: ProviderAccess(authentication: isSecured ? authentication : nil)).add(to: router)
        router.add(middleware: UnservedPaths(hubs: hubs, router: router))
    }
}

extension Request {
    /// A component of the path without percent encoding.
    static func plain(_ parameter: String) -> String { parameter.removingPercentEncoding ?? parameter }

    /// The header field with a name.
    func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}
