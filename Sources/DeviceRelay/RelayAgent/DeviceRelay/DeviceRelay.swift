import AgentEngine
import AgentProtocol
import Logging
import NIOCore
import Networking
import Platform
import PushCore
import RelayProtocol

/// The functions that relaying needs from its agent. Called on the agent's event loop.
package protocol DeviceRelayDelegate: AnyObject, Sendable {
    /// This device's id; `nil` until it has one.
    var relayingDevice: DeviceID? { get }
    /// Sends a frame to the server; without a session nothing happens.
    func sendToRelay(_ frame: [UInt8])
    /// Starts an app that another device asks for, unless it runs.
    func startForRelay(_ app: BundleID)
    /// Sends a message to a client of the relay.
    func send(_ message: AgentMessage, toRelayClient id: AppConnectionID)
    /// Sends the reason to a client of the relay, and closes its connection.
    func refuseRelayClient(_ id: AppConnectionID, code: String, message: String)
    /// An id under which a question is shown, and nothing else.
    func nextRelayQuestion() -> NotificationID
}

/// The ports of ``DeviceRelay``, and its time; tests pass their own.
package struct DeviceRelayParts: Sendable {
    /// Opens addresses for other devices.
    package var opener: any AddressOpener
    /// The agent's own services for other devices.
    package var services: any NativeServices
    /// Asks the person.
    package var presenter: any Presenter
    /// Finds the person's other devices in the networks that this one is in; `nil` where it shall not.
    package var nearby: AvahiDirectory?
    /// The manufacturer and model of this machine, which other devices show.
    package var machine: DeviceModelInfo
    /// The time in milliseconds since 1970.
    package var now: @Sendable () -> Timestamp

    /// Names the ports.
    package init(
        opener: any AddressOpener, services: any NativeServices, presenter: any Presenter,
        nearby: AvahiDirectory?, machine: DeviceModelInfo, now: @escaping @Sendable () -> Timestamp
    ) {
        self.machine = machine
        self.opener = opener
        self.services = services
        self.presenter = presenter
        self.nearby = nearby
        self.now = now
    }
}

/// Relaying between this person's devices, on this one. ``RelayHost`` decides; here its directives are followed.
///
/// It runs on the event loop of its delegate, so that the two call each other without waiting.
package actor DeviceRelay {
    nonisolated let loop: any EventLoop
    /// The event loop, so that what runs on it may enter without waiting.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    nonisolated let parts: DeviceRelayParts
    nonisolated let logger: Logger
    weak var delegate: (any DeviceRelayDelegate)?

    var host: RelayHost
    var seals: RelaySeals
    /// The server's list of the user's devices.
    var announcedDevices = AnnouncedDevices()
    let files = RelayFiles()
    /// Connections with the person's other devices; `nil` where there shall be none.
    nonisolated let direct: DirectRelay?
    var log: RelayLog
    let settingsFile: RelaySettingsFile
    let takenQueuedMessages: ReceivedMessageLogFile
    /// The questions whether devices may call services, by the ids under which they are shown.
    var questions: [NotificationID: Int64] = [:]
    var clients: [ClientNumber: AppConnectionID] = [:]

    /// Makes a relay that does nothing before its first event.
    ///
    /// - Parameters:
    ///   - settings: The settings of the data folder, with the device's own key.
    ///   - loop: The event loop of the delegate.
    package init(
        settings: RelaySettings, dataFolder: String, loop: any EventLoop, parts: DeviceRelayParts, logger: Logger
    ) {
        settingsFile = RelaySettingsFile(dataFolder: dataFolder)
        self.loop = loop
        self.parts = parts
        self.logger = logger
        seals = RelaySeals(key: settings.deviceKey)
        log = RelayLog(dataFolder: dataFolder)
        takenQueuedMessages = ReceivedMessageLogFile(dataFolder: dataFolder)
        var host = RelayHost(
            settings: settings, ownServices: parts.services.names, filesFolder: dataFolder + "/received",
            manufacturer: parts.machine.manufacturer, model: parts.machine.model,
            firstTask: Int64.random(in: 0..<1 << 52))
        do {
            let (taken, attempts) = try takenQueuedMessages.read(at: parts.now())
            host.restoreReceived(taken, attempts: attempts, at: parts.now())
        } catch {
            logger.error(
                "Which messages were taken is not known; some may be given to their apps again.",
                metadata: [LogKey.error: "\(error)"])
        }
        self.host = host
        direct = parts.nearby.map { DirectRelay(loop: loop, directory: $0, now: parts.now, logger: logger) }
    }

    /// Sets the agent that carries out the delegate's functions. Called before anything else; the reference is weak.
    package func setDelegate(_ delegate: any DeviceRelayDelegate) {
        self.delegate = delegate
        // The list of the user's devices is on the disk, so that those in one network are known without the server.
        guard let device = delegate.relayingDevice?.description else { return }
        host.isCalled(device)
        seals.begin(device: device, account: host.settings.account)
        seals.takes(host.settings.list)
    }

    /// Whether devices shall talk directly, too.
    package nonisolated var isDirect: Bool { direct != nil }

    // MARK: Apps and terminals

    /// Handles a frame about relaying from an app, its relay service, or a terminal.
    ///
    /// - Parameters:
    ///   - app: The app that the connection belongs to; `nil` for a terminal.
    ///   - name: The app's display name.
    /// - Returns: Whether the connection may go on.
    package func take(_ frame: [UInt8], from connection: AppConnectionID, app: BundleID?, name: String) -> Bool {
        let request: RelayRequest
        do { request = try RelayRequest(frame) } catch {
            delegate?.refuseRelayClient(
                connection, code: "malformed", message: "no request about relaying: \(error)")
            return false
        }
        let client = ClientNumber(connection.number)
        clients[client] = connection
        perform(
            host.take(
                request, from: client, app: (app ?? AppManifest.terminalID).rawValue, name: name,
                isTerminal: app == nil, at: parts.now()))
        return true
    }

    /// Whether a connection has sent a frame about relaying before.
    package func serves(_ connection: AppConnectionID) -> Bool {
        clients[ClientNumber(connection.number)] != nil
    }

    /// A connection is over.
    package func removeClient(_ connection: AppConnectionID) {
        guard clients.removeValue(forKey: ClientNumber(connection.number)) != nil else { return }
        perform(host.removeClient(ClientNumber(connection.number), at: parts.now()))
    }

    /// The program of an app has ended, or could not be started.
    package func notRunning(_ app: BundleID) { perform(host.notRunning(app: app.rawValue, at: parts.now())) }

    /// An app is not on this device any more.
    package func removed(_ app: BundleID) { perform(host.removed(app: app.rawValue, at: parts.now())) }

    // MARK: The session with the server

    /// The session with the server is open.
    package func sessionOpened() {
        seals.begin(device: delegate?.relayingDevice?.description ?? "", account: host.settings.account)
        seals.takes(host.settings.list)
        perform(host.sessionOpened(at: parts.now()))
    }

    /// Handles a frame of another device, or of the server.
    package func receive(_ bytes: [UInt8]) {
        let frame: RelayFrame
        do { frame = try RelayFrame(bytes) } catch {
            return logger.warning(
                "The server sent something about relaying that cannot be read.", metadata: [LogKey.error: "\(error)"])
        }
        for frame in announcedDevices.incoming(frame) { receive(frame) }
    }

    private func receive(_ frame: RelayFrame) {
        let now = parts.now()
        let opened = seals.incoming(frame, at: now)
        if let answer = opened.answer { write(answer) }
        if let (device, message) = opened.pairing { perform(host.receivePairingMessage(device, message, at: now)) }
        guard let frame = opened.frame else { return }
        if isDirect {
            let keys = seals.direct
            onDirect { $0.receive(frame, keys: keys) }
        }
        perform(host.received(frame, isGuests: opened.isGuests, at: now))
    }

    /// Notifies the clients of relaying that the session is over.
    package func sessionClosed() {
        seals.forgetAll()
        let keys = seals.direct
        onDirect { $0.sessionClosed(keys: keys) }
        perform(host.sessionClosed(at: parts.now()))
    }

    // MARK: The person's word

    /// A person did something with what is on the screen.
    ///
    /// - Returns: Whether it was a question about another device.
    package func answered(_ event: PresenterEvent) -> Bool {
        switch event {
        case .pressed(let id, let button, _):
            guard let ticket = questions.removeValue(forKey: id) else { return false }
            decide(ticket, RelayQuestion.Answer(rawValue: button))
        case .locked(let isLocked):
            host.screenChanged(isUnlocked: !isLocked)
            return false
        case .shownAgain: return false
        case .opened(let id, _), .dismissed(let id), .left(let id), .replied(let id, _, _):
            guard let ticket = questions.removeValue(forKey: id) else { return false }
            decide(ticket, nil)
        }
        return true
    }

    /// Runs a closure on the loop, after everything that entered before it. Called from any thread.
    nonisolated func enter(_ body: @escaping @Sendable (isolated DeviceRelay) -> Void) {
        loop.execute { self.assumeIsolated { body($0) } }
    }
}
