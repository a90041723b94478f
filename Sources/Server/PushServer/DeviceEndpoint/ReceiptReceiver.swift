import DeviceChannel
import PushCore

/// Receives batches of receipts and has them recorded.
struct ReceiptReceiver: UpstreamReceiver {
    let gateway: any DeviceGateway
    let metrics: DeviceEndpointMetrics
    /// The maximum number of receipts in one batch.
    var limit = 512

    func receive(
        _ message: UpstreamMessage, of session: DeviceSessionID,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void
    ) {
        guard let reading = MCSReceiptReading(batch: message.raw) else {
            return complete(.refused(UpstreamRejection(code: 400, reason: "the content is no batch of receipts")))
        }
        guard reading.receipts.count <= limit else { return complete(.violation("too many receipts in one batch")) }
        metrics.receipts.increment(by: reading.receipts.count)
        if reading.ignoredCount > 0 { metrics.receiptsIgnored.increment(by: reading.ignoredCount) }
        metrics.extended(reading.receipts)
        gateway.record(reading.receipts, of: session) { [metrics] outcome in
            switch outcome {
            case .durable(let ignored):
                if ignored > 0 { metrics.receiptsIgnored.increment(by: ignored) }
                complete(.durable(ignored: ignored))
            case .failed: complete(.failed)
            }
        }
    }
}
