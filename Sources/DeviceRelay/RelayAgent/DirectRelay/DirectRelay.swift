import CoreValues
import Foundation
import Logging
import NIOCore
import Networking
import Platform
import PushCore
import RelayProtocol

/// Direct connections of the user's devices with each other, in the networks that they share, beside the path through
/// the server.
///
/// It runs on the event loop of its delegate, so that the two call each other without waiting. ``RelayPaths`` decides
/// which path a message takes, ``DirectDialling`` to which devices to connect.
package actor DirectRelay {
    /// How many connections that have not proven anything are open at a time, and for how long.
    private static let strangerLimit = 16
    private static let strangerTimeout = TimeAmount.seconds(5)
    /// How long one announcement is used.
    private static let announcementAge = TimeAmount.hours(1)

    /// The stage of a connection's handshake, and the peer as far as it is known.
    private enum Stage {
        /// No message was exchanged.
        case silent
        /// The first message was sent.
        case asked(peer: String, UUID, DirectHandshake)
        /// The first message was answered; the other has to show that it could read that.
        case answered(peer: String, UUID)
        /// Both devices have proven their identity.
        case live(UUID)
    }

    private struct Connection {
        var channel: DirectChannel
        var stage: Stage
        var session: DirectSession?
        var dialled: String?
    }

    private nonisolated let loop: any EventLoop
    /// The event loop, so that what runs on it may enter without waiting.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    private nonisolated let directory: AvahiDirectory
    private nonisolated let now: @Sendable () -> Timestamp
    private nonisolated let logger: Logger
    private weak var delegate: DeviceRelay?
    private var listener: (any Channel)?
    private var keys: DirectKeys?
    private var paths = RelayPaths()
    private var dialling = DirectDialling()
    private var connections: [ObjectIdentifier: Connection] = [:]
    /// The channels of connections that are live.
    private var channels: [UUID: ObjectIdentifier] = [:]
    private var rotation: RepeatedTask?
    private var isEnded = false

    /// Does nothing before ``begin(_:)``.
    ///
    /// - Parameters:
    ///   - loop: The delegate's.
    ///   - now: The present time.
    package init(
        loop: any EventLoop, directory: AvahiDirectory, now: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.loop = loop
        self.directory = directory
        self.now = now
        self.logger = logger
    }

    /// Listens and looks; nothing is announced before the keys are known. The delegate is not kept alive.
    package func begin(_ delegate: DeviceRelay, keys: DirectKeys?) async {
        self.delegate = delegate
        self.keys = keys
        do {
            listener = try await DirectChannel.listen(group: loop) { [weak self] channel in
                self?.enter { $0.accepted(channel) }
                return { [weak self] event in self?.enter { $0.handleChannelEvent(event, of: channel) } }
            }
        } catch {
            logger.warning(
                "Other devices cannot connect directly: no port could be opened.",
                metadata: [LogKey.error: "\(error)"])
        }
        directory.start { [weak self] event in self?.enter { $0.handleNearbyEvent(event) } }
        rotation = loop.scheduleRepeatedTask(initialDelay: Self.announcementAge, delay: Self.announcementAge) {
            [weak self] _ in self?.assumeIsolated { $0.announce() }
        }
        announce()
    }

    /// Ends all connections.
    package func end() {
        isEnded = true
        rotation?.cancel()
        directory.stop()
        listener?.close(promise: nil)
        for connection in connections.values { connection.channel.close() }
    }

    /// The machine may have other addresses.
    package func networkChanged() { announce() }

    // MARK: What the agent says

    /// Something is to be sent to another device.
    package func send(_ route: RelayRoute) { perform(paths.send(route, at: now().rawValue)) }

    /// Handles a frame of the server that concerns the user's devices.
    package func receive(_ frame: RelayFrame, keys: DirectKeys?) {
        switch frame {
        case .welcome(let own, _, let devices, _):
            let absent = devices.filter { $0.presence != .online && $0.id != own }.map(\.id)
            perform(paths.sessionOpened(without: Set(absent), at: now().rawValue))
        case .changed(_, let device):
            if device.presence == .online {
                paths.isThere(device.id)
            } else {
                perform(paths.isAway(device.id, at: now().rawValue))
            }
        case .removed(_, let device): perform(paths.drop(device))
        case .interrupted(let device): perform(paths.isAway(device, at: now().rawValue))
        default: break
        }
        know(keys)
    }

    /// The session with the server is over; connections stay.
    package func sessionClosed(keys: DirectKeys?) {
        perform(paths.sessionClosed(at: now().rawValue))
        know(keys)
    }

    /// Takes the current keys of the person's devices. Connections with devices whose key changed are closed.
    package func know(_ keys: DirectKeys?) {
        let old = self.keys
        self.keys = keys
        for peer in old?.peers ?? [] where keys?.key(of: peer) != old?.key(of: peer) { perform(paths.drop(peer)) }
        // The initiator may have been refused as unknown; a new announcement ends its pause.
        let isAwaited = keys.map { keys in keys.peers.contains { old?.key(of: $0) == nil && !keys.begins(with: $0) } }
        if isAwaited == true || !(keys?.isSameDevice(as: old) ?? (old == nil)) { announce() }
        dial()
    }

    /// The account is another.
    package func accountChanged(_ keys: DirectKeys?) {
        perform(paths.dropAll())
        dialling.forgetAll()
        for connection in connections.values { connection.channel.close() }
        self.keys = keys
        announce()
    }

    /// Another device has announced a connection by the server.
    package func announced(_ connection: UUID, by peer: String) { perform(paths.announced(connection, by: peer)) }

    /// Another device reports, through the server, that a connection is over.
    package func counted(_ connection: UUID, received: Int64, isAnswer: Bool, by peer: String) {
        perform(paths.counted(connection, received: received, isAnswer: isAnswer, by: peer, at: now().rawValue))
    }

    private func announce() {
        guard !isEnded else { return }
        guard let keys, let port = listener?.localAddress?.port.flatMap(UInt16.init(exactly:)) else {
            return directory.announce(nil)
        }
        let salt = (0..<DirectKeys.saltLength).map { _ in UInt8.random(in: 0 ... .max) }
        let name = (0..<8).map { _ in UInt8.random(in: 0 ... .max) }
        directory.announce(
            NearbyAnnouncement(name: NearbyText.hex(name), port: port, salt: salt, tag: keys.tag(salt: salt)))
    }

    // MARK: Connections

    private func handleNearbyEvent(_ event: NearbyEvent) {
        switch event {
        case .appeared(let sighting):
            dialling.appeared(sighting)
            if let peer = keys?.peer(salt: sighting.salt, tag: sighting.tag) {
                dialling.recognised(peer, salt: sighting.salt)
            }
            dial()
        case .vanished(let id): dialling.vanished(id)
        case .unavailable(let reason):
            logger.notice("Devices nearby cannot be found now.", metadata: [LogKey.error: "\(reason)"])
        }
    }

    private func dial() {
        guard let keys, !isEnded else { return }
        let dials = dialling.dials(
            at: now(),
            match: { sighting in
                keys.peer(salt: sighting.salt, tag: sighting.tag).flatMap { keys.begins(with: $0) ? $0 : nil }
            }, isConnected: { paths.isConnected($0) })
        for dial in dials {
            let told = DialledChannel()
            DirectChannel.connect(
                to: dial.address, port: dial.port, interface: dial.interface, group: loop
            ) { [weak self] event in
                self?.enter { if let channel = told.channel { $0.handleChannelEvent(event, of: channel) } }
            }.whenComplete { [weak self] result in
                self?.enter {
                    switch result {
                    case .success(let channel):
                        told.channel = channel
                        $0.connected(channel, to: dial.peer)
                    case .failure: $0.dialEnded(dial.peer)
                    }
                }
            }
        }
        wakeForDialling()
    }

    /// The channel of a dial, once it is known.
    ///
    /// Sendable is unchecked: `dial` makes it, and all that reads or writes it runs in `enter`, on the actor's loop.
    private final class DialledChannel: @unchecked Sendable {
        var channel: DirectChannel?
    }

    private func wakeForDialling() {
        let moment = now()
        guard let next = dialling.deadline(after: moment) else { return }
        loop.scheduleTask(in: .milliseconds(max(1, next.milliseconds(since: moment)))) { [weak self] in
            self?.assumeIsolated { $0.dial() }
        }
    }

    private func dialEnded(_ peer: String) {
        dialling.recordEnd(of: peer, at: now())
        dial()
    }

    private func connected(_ channel: DirectChannel, to peer: String) {
        let id = UUID()
        guard !isEnded, let begun = keys?.begin(id, with: peer) else {
            channel.close()
            return dialEnded(peer)
        }
        enter(channel, .asked(peer: peer, id, begun.handshake), dialled: peer)
        channel.send(begun.message)
    }

    private func accepted(_ channel: DirectChannel) {
        let strangers = connections.values.filter { if case .live = $0.stage { false } else { true } }
        guard !isEnded, strangers.count < Self.strangerLimit else { return channel.close() }
        enter(channel, .silent, dialled: nil)
    }

    private func enter(_ channel: DirectChannel, _ stage: Stage, dialled: String?) {
        connections[ObjectIdentifier(channel)] = Connection(channel: channel, stage: stage, dialled: dialled)
        loop.scheduleTask(in: Self.strangerTimeout) { [weak self, weak channel] in
            guard let self, let channel else { return }
            self.assumeIsolated {
                if case .live? = $0.connections[ObjectIdentifier(channel)]?.stage { return }
                channel.close()
            }
        }
    }

    private func handleChannelEvent(_ event: DirectChannelEvent, of channel: DirectChannel) {
        let id = ObjectIdentifier(channel)
        switch event {
        case .frames(let frames):
            for frame in frames {
                guard connections[id] != nil else { return }
                if !handleFrame(frame, id: id, channel: channel) { return channel.close() }
            }
            channel.resume()
        case .closed:
            guard let connection = connections.removeValue(forKey: id) else { return }
            if case .live(let number) = connection.stage {
                channels[number] = nil
                perform(paths.closed(number, at: now().rawValue))
            }
            if let peer = connection.dialled { dialEnded(peer) }
        }
    }

    /// - Returns: Whether the connection may go on.
    private func handleFrame(_ frame: [UInt8], id: ObjectIdentifier, channel: DirectChannel) -> Bool {
        switch connections[id]?.stage {
        case .silent:
            guard let answer = keys?.answer(frame) else { return false }
            connections[id]?.session = answer.session
            connections[id]?.stage = .answered(peer: answer.peer, answer.connection)
            channel.send(answer.message)
            return true
        case .asked(let peer, let number, var handshake):
            guard let session = handshake.finish(frame) else { return false }
            connections[id]?.session = session
            guard write(.live, id) else { return false }
            dialling.succeeded(peer)
            goLive(number, peer: peer, id: id)
            return true
        case .answered(let peer, let number):
            guard case .live? = read(frame, id) else { return false }
            goLive(number, peer: peer, id: id)
            return true
        case .live(let number):
            guard let message = read(frame, id) else { return false }
            perform(paths.receive(message, over: number, at: now().rawValue))
            return true
        case nil: return false
        }
    }

    private func goLive(_ number: UUID, peer: String, id: ObjectIdentifier) {
        connections[id]?.stage = .live(number)
        channels[number] = id
        perform(paths.opened(number, with: peer, at: now().rawValue))
    }

    private func read(_ frame: [UInt8], _ id: ObjectIdentifier) -> DirectMessage? {
        try? connections[id]?.session?.open(frame)
    }

    private func write(_ message: DirectMessage, _ id: ObjectIdentifier) -> Bool {
        guard let frame = try? connections[id]?.session?.seal(message) else { return false }
        connections[id]?.channel.send(frame)
        return true
    }

    private func perform(_ steps: [RelayPaths.Step]) {
        for step in steps {
            switch step {
            case .relay(let route): delegate?.sendByServer(route)
            case .direct(let connection, let message):
                guard let id = channels[connection], !write(message, id) else { break }
                connections[id]?.channel.close()
            case .refuse(let answer): delegate?.notSent(answer)
            case .deliver(let route): delegate?.cameDirectly(route)
            case .close(let connection):
                if let id = channels.removeValue(forKey: connection) { connections[id]?.channel.close() }
            case .reach(let peer, let isDirect): delegate?.reached(peer, isDirect: isDirect)
            case .lost(let peer): delegate?.lost(peer)
            case .wake(let milliseconds):
                loop.scheduleTask(in: .milliseconds(milliseconds)) { [weak self] in
                    self?.assumeIsolated { $0.perform($0.paths.due(at: $0.now().rawValue)) }
                }
            }
        }
    }

    /// Runs a closure on the loop, after everything that entered before it. Called from any thread.
    private nonisolated func enter(_ body: @escaping @Sendable (isolated DirectRelay) -> Void) {
        loop.execute { self.assumeIsolated { body($0) } }
    }
}
