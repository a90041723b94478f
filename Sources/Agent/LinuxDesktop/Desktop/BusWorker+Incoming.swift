import AgentEngine
import Logging

/// Handling of messages from the bus.
extension BusWorker {
    func handleMessage(_ message: borrowing BusMessage) {
        let arguments = message.arguments
        if message.isReply || message.isError {
            guard let call = calls.take(message.answers) else { return }
            guard message.isError else { return answered(call, arguments) }
            if case .activate(let complete) = call { return complete(Self.outcome(ofActivation: message.errorName)) }
            return failed(call, Self.words(message.errorName))
        }
        switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
        case (.uint32(let id), .string(let key), _) where message.isSignal(Self.name, "ActionInvoked"):
            perform(notificationState.handle(.actionInvoked(serverID: id, key: key)))
        case (.uint32(let id), .string(let text), _) where message.isSignal(Self.name, "NotificationReplied"):
            perform(notificationState.handle(.replied(serverID: id, text: text)))
        case (.uint32(let id), .string(let token), _) where message.isSignal(Self.name, "ActivationToken"):
            perform(notificationState.handle(.activationToken(serverID: id, token: token)))
        case (.uint32(let id), .uint32(let reason), _) where message.isSignal(Self.name, "NotificationClosed"):
            perform(notificationState.handle(.closed(serverID: id, reason: reason)))
        case (.string(Self.name), _, .string(let owner)) where message.isSignal(Self.bus, "NameOwnerChanged"):
            owned(by: owner.isEmpty ? nil : owner)
        default: handleScreenSaverSignal(message, arguments)
        }
    }

    private func handleScreenSaverSignal(_ message: borrowing BusMessage, _ arguments: [BusValue]) {
        for saver in ScreenSaver.allCases {
            if message.isSignal(saver.name, "ActiveChanged"), case .boolean(let isActive)? = arguments.first {
                lockChanged(isActive, from: .saver(saver))
            } else if message.isSignal(Self.bus, "NameOwnerChanged"), arguments.first == .string(saver.name),
                case .string(let owner)? = arguments.dropFirst(2).first
            {
                guard !owner.isEmpty else { return lockChanged(false, from: .saver(saver)) }
                lock.ownerChanged(of: saver)
                ask(saver)
            }
        }
    }

    private func answered(_ call: Call, _ arguments: [BusValue]) {
        switch (call, arguments.first) {
        case (.notify(let ticket), .uint32(let serverID)):
            perform(notificationState.handle(.notified(ticket: ticket, serverID: serverID)))
        case (.capabilities(let ticket), .strings(let capabilities)):
            self.call(.information(capabilities: capabilities, ticket: ticket), "GetServerInformation", [])
        case (.information(let capabilities, let ticket), .string(let server)):
            var features = NotificationServerInformation(name: server, capabilities: Set(capabilities))
            if case .string(let version)? = arguments.dropFirst(2).first { features.name += " \(version)" }
            logger.info("The notification server is \(features.name).")
            fault.set(nil)
            perform(notificationState.handle(.features(features, ticket: ticket)))
        case (.owner, .string(let owner)): owned(by: owner)
        case (.activatable, .strings(let names)):
            fault.set(
                names.contains(Self.name)
                    ? nil : "no notification server runs on the session bus, and none can be started")
        case (.active(let saver), .boolean(let isActive)): lockChanged(isActive, from: .saver(saver))
        case (.activate(let complete), _): complete(.activated)
        case (.close, _): break
        default: failed(call, "the notification server's answer has another form than the specification's")
        }
    }

    private func owned(by owner: String?) {
        if owner == nil { askWhatIsActivatable() } else { fault.set(nil) }
        perform(notificationState.handle(.ownerChanged(owner)))
    }

    func failed(_ call: Call, _ reason: String) {
        switch call {
        case .notify(let ticket): perform(notificationState.handle(.notifyFailed(ticket: ticket, reason: reason)))
        case .capabilities(let ticket), .information(_, let ticket):
            fault.set(reason)
            perform(notificationState.handle(.featuresFailed(ticket: ticket, reason: reason)))
        case .activate(let complete): complete(.unanswered(reason: reason))
        case .active(let saver): changeLock { $0.wasSilent(saver) }
        case .owner: askWhatIsActivatable()
        case .activatable, .close: break
        }
    }

    // MARK: The lock

    func lockChanged(_ isLocked: Bool, from source: LockState.Source) {
        changeLock { $0.receive(isLocked, from: source) }
    }

    func changeLock(_ change: (inout LockState) -> Void) {
        let wasLocked = lock.isLocked
        change(&lock)
        if lock.isLocked != wasLocked { tellLock() }
    }

    // MARK: Reasons

    private static func words(_ error: String) -> String {
        switch error {
        case "\(bus).Error.ServiceUnknown", "\(bus).Error.NameHasNoOwner":
            "no notification server runs on the session bus"
        case let error where error.hasPrefix("\(bus).Error.Spawn."):
            "the desktop's notification server could not be started, as without a display (\(error))"
        default: "the notification server answered \(error)"
        }
    }

    /// The outcome of an activation that failed. Only some errors of the bus itself prove that no program was started.
    /// Any other error may be an app's answer, or that of an app that is starting slowly.
    static func outcome(ofActivation error: String) -> AppActivationOutcome {
        let reason = "its name on the session bus answered \(error)"
        let isNotStarted = error == "\(bus).Error.ServiceUnknown" || error.hasPrefix("\(bus).Error.Spawn.")
        return isNotStarted ? .notStarted(reason: reason) : .unanswered(reason: reason)
    }

    static func lateness(of call: Call) -> String {
        if case .activate = call { return "it did not answer within \(longTimeout.components.seconds) s" }
        return "the notification server did not answer within \(BusCalls<Call>.timeout.components.seconds) s"
    }
}
