import NIOCore
import PushCore

/// A connection of a device, from the attempt to connect on. Its methods may be called on any thread; calls on the
/// connection's event loop take effect before they return. After `closed` they do nothing.
package final class MCSClientConnection: Sendable {
    /// The device that logs in.
    package let device: DeviceID
    /// The event loop on which the delegate is called.
    package let eventLoop: any EventLoop
    private let box: NIOLoopBoundBox<MCSClientShell?>

    init(device: DeviceID, eventLoop: any EventLoop) {
        self.device = device
        self.eventLoop = eventLoop
        box = .makeEmptyBox(valueType: MCSClientShell.self, eventLoop: eventLoop)
    }

    /// Acknowledges notifications that are stored, or were stored before.
    package func acknowledge(_ ids: [NotificationID]) {
        onLoop { $0.acknowledge(ids) }
    }

    /// Sends a batch of receipts. It is durable at the server when `upstreamConfirmed` contains its persistent id. A
    /// batch that is not confirmed when the connection ends must be sent again on the next.
    ///
    /// - Parameters:
    ///   - receipts: At most a few hundred.
    ///   - persistentID: The sender's own id of the batch, unique among those not confirmed.
    package func send(_ receipts: [Receipt], persistentID: String) {
        onLoop { $0.send(receipts, persistentID: persistentID) }
    }

    /// Sends another stanza upstream, which is made at the moment of writing. It is durable at the server when
    /// `upstreamConfirmed` contains its persistent id.
    package func send(persistentID: String, _ stanza: @escaping @Sendable (Timestamp) -> MCSDataMessageStanza) {
        onLoop { $0.send(stanza(SessionTime.now().wall), persistentID: persistentID) }
    }

    /// Sends a frame for another device. It is lost where the session is not open, or ends.
    package func relay(_ frame: [UInt8]) {
        onLoop { $0.relay(frame) }
    }

    /// Requests a response from the server now, and closes if none arrives in time. Use it when the machine has slept.
    package func probe() {
        onLoop { $0.probe() }
    }

    /// Sends Close and closes the connection; `closed` follows with `ended`.
    package func close() {
        onLoop { $0.end() }
    }

    private func onLoop(_ body: @escaping @Sendable (MCSClientShell) -> Void) {
        guard !eventLoop.inEventLoop else {
            if let shell = box.value { body(shell) }
            return
        }
        eventLoop.execute { [box] in
            if let shell = box.value { body(shell) }
        }
    }

    // MARK: On the event loop

    var shell: MCSClientShell? { box.value }

    func attach(_ shell: MCSClientShell) { box.value = shell }

    func detach() { box.value = nil }

    func connectFailed(_ error: any Error) {
        onLoop { $0.connectFailed(error) }
    }
}
