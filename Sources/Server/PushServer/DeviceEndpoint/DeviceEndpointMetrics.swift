import DeviceChannel
import Metrics
import PushCore

/// The endpoint's counters; made once, labels from closed sets only.
struct DeviceEndpointMetrics: Sendable {
    let connections = Gauge(label: "aldaba_device_connections")
    let sent = Counter(label: "aldaba_device_notifications_sent_total")
    let notSent = Counter(label: "aldaba_device_notifications_not_sent_total")
    let acknowledged = Counter(label: "aldaba_device_notifications_acknowledged_total")
    let receipts = Counter(label: "aldaba_device_receipts_total")
    let receiptsIgnored = Counter(label: "aldaba_device_receipts_ignored_total")
    let upstreamRefused = Counter(label: "aldaba_device_upstream_refused_total")

    private let extensions = Dictionary(
        uniqueKeysWithValues: ExtensionOutcome.allCases.map {
            ($0, Counter(label: "aldaba_device_extensions_total", dimensions: [("outcome", $0.rawValue)]))
        })
    private let welcome = Counter(label: "aldaba_device_logins_total", dimensions: [("outcome", "welcome")])
    private let refused = Counter(label: "aldaba_device_logins_total", dimensions: [("outcome", "refused")])
    private let unavailable = Counter(label: "aldaba_device_logins_total", dimensions: [("outcome", "unavailable")])
    private let blocked = Counter(label: "aldaba_device_logins_total", dimensions: [("outcome", "blocked")])
    private let busy = Counter(label: "aldaba_device_logins_total", dimensions: [("outcome", "busy")])
    private let closes = Dictionary(
        uniqueKeysWithValues: MCSServerCloseReason.allCases.map {
            ($0, Counter(label: "aldaba_device_closes_total", dimensions: [("reason", $0.rawValue)]))
        })

    func login(_ answer: MCSLoginAnswer) {
        switch answer {
        case .welcome: welcome.increment()
        case .refused: refused.increment()
        case .unavailable: unavailable.increment()
        case .blocked: blocked.increment()
        case .busy: busy.increment()
        }
    }

    /// Counts the outcomes of notifications that waited for service extensions.
    func extended(_ receipts: [Receipt]) {
        for receipt in receipts {
            guard case .extended(let text) = receipt.entry.state else { continue }
            ExtensionOutcome(text: text).flatMap { extensions[$0] }?.increment()
        }
    }

    func close(_ reason: MCSServerCloseReason) {
        closes[reason]?.increment()
    }
}
