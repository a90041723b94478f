import AgentEngine
import AgentProtocol
import Foundation
import Logging
import Networking
import Platform
import PushCore

/// Passes every event to the engine, and performs the effects that it returns.
extension Agent {
    /// The present time, store, session and screen, which the engine does not keep.
    var context: AgentEngine.Context {
        AgentEngine.Context(
            now: parts.now(), clock: parts.clock.now(), store: store, session: onLink { $0.sessionNumber } ?? nil,
            isConnected: onLink { $0.isOpen } ?? false, hasScreen: parts.presenter.hasScreen,
            hasFile: { FileManager.default.isReadableFile(atPath: $0) },
            isRunning: { ProcessTree.isRunning($0) },
            isSibling: { ProcessTree.parent(of: $0) == getppid() })
    }

    /// Calls the engine, and performs its effects.
    @discardableResult func decide<Value>(
        _ body: (inout AgentEngine, AgentEngine.Context) throws -> Value
    ) rethrows -> Value {
        let context = self.context
        defer { for effect in engine.takeEffects() { perform(effect) } }
        return try body(&engine, context)
    }

    /// Adds a change to the batch, which is committed after the work that is on the event loop already.
    func enqueue(_ change: StoreChange) {
        if engine.batch.add(change) { enter { $0.flush() } }
    }

    private func perform(_ effect: AgentEffect) {
        switch effect {
        case .commit: enter { $0.flush() }
        case .storeFailed(let error): storeFailed(error)
        case .prune(let apps): enter { $0.pruneInSteps(of: apps) }
        case .removed(let app): removed(app)
        case .send(let messages, let id, nil): connections[id]?.send(messages)
        case .send(let messages, let id, let step?): step.take { connections[id]?.send(messages) }
        case .refuse(let id, let code, let message): connections[id]?.refuse(code: code, message: message)
        case .close(let id): connections[id]?.close()
        case .present(let presentation, let notification, let again): present(presentation, notification, again: again)
        case .ask(let question): showQuestion(question)
        case .update(let presentation): parts.presenter.update(presentation)
        case .withdraw(let id): withdraw(id)
        case .badge(let count, let desktopEntry):
            AgentStep.setBadge.take { parts.presenter.badge(count, desktopEntry: desktopEntry) }
        case .play(let sound, let volume): parts.presenter.play(sound, volume: volume)
        case .askForReply(let request): askForReply(request)
        case .activate(let app, let activation):
            parts.activator?.activate(activation) { [weak self] outcome in
                self?.enter { $0.decide { $0.supervise(.activation(outcome), app: app, context: $1) } }
            }
        case .launch(let app, let token): launch(app, token)
        case .connected(let app): events(.appConnected(app: app))
        case .registered(let app, let token): events(.registered(app: app, token: token))
        case .extend(let event): updateExtensions(event)
        case .reloadExtensions: loadExtendingLater()
        case .open(let url, let isTrial, let asker):
            onRelay { relay in
                relay.open(url, isTrial: isTrial) { [weak self] answer in
                    self?.enter {
                        $0.connections[asker.connection]?.send([.opened(request: asker.request, answer)])
                    }
                }
            }
        case .wait(let pause, then: let timer): enter(after: pause) { $0.timePassed(timer) }
        case .arm(let instant): parts.clock.arm(instant)
        case .watchPosition(let isNeeded): watchPosition(isNeeded)
        case .loadSchedule: enter { $0.loadSchedule() }
        case .rereadRequests(let app):
            flush()
            decide { $0.rereadRequests(of: app, $1) }
        case .resumeExpiry:
            flush()
            decide { $0.resumeExpiry($1) }
        case .link(let call): callLink(call)
        case .unifiedPush(let directive): perform(directive)
        case .log(let level, let message, let metadata):
            logger.log(level: level, "\(message)", metadata: metadata)
        case .logSchedule(let notice): logger.log(notice)
        case .logSupervisor(let notice, let app): logger.log(notice, of: app)
        }
    }

    private func timePassed(_ timer: AgentTimer) {
        switch timer {
        case .lookForApp(let app): lookForApp(app)
        case .presenterEvent(let event) where event.isAnsweredFromStore:
            flush()
            fallthrough
        default: decide { $0.timePassed(timer, $1) }
        }
    }

    // MARK: The store

    /// Commits the batch and does what follows from it.
    ///
    /// - Returns: Whether all that was to be stored is on the disk.
    @discardableResult func flush() -> Bool {
        let (changes, filesToDelete) = engine.batch.take()
        guard !changes.isEmpty else { return true }
        do {
            let results = try store.commit(changes)
            attachments.release(filesToDelete)
            decide { $0.committed(results, $1) }
            return true
        } catch {
            attachments.drop(changes.flatMap(\.copiedFiles))
            // A person's actions would not be reported again.
            if engine.batch.failed(changes) { enter(after: timing.storePause) { $0.flush() } }
            storeFailed(error)
            return false
        }
    }

    /// Nothing of the batch is stored, so nothing was confirmed as stored.
    func storeFailed(_ error: any Error) {
        storeFailure.log(error, to: logger)
        decide { $0.storeFailed($1) }
    }

    // MARK: Time and place

    /// Loads all that waits from the store.
    func loadSchedule() {
        flush()
        decide { $0.loadSchedule($1) }
    }

    func handleClockEvent(_ event: AlarmClockEvent) {
        if event == .wallClockChanged { onLink { $0.probeSession() } }
        decide { $0.updateSchedule(.clock(event), $1) }
    }

    private func watchPosition(_ isNeeded: Bool) {
        guard let positions = parts.positions else {
            if isNeeded { logger.warning("Notifications wait for a place, and nothing tells where this machine is.") }
            return
        }
        guard isNeeded else { return positions.rest() }
        positions.start { [weak self] event in self?.enter { $0.decide { $0.updateSchedule(.position(event), $1) } } }
    }

    /// Reports the states of each notification to the program that started the agent, where it asked for them.
    package nonisolated func reporting(_ receipts: [Receipt]) {
        guard configuration.reportsStates else { return }
        assumeIsolated { agent in
            var order: [NotificationID] = []
            let states = receipts.reduce(into: [NotificationID: [TimelineEntry]]()) { found, receipt in
                if found[receipt.id] == nil { order.append(receipt.id) }
                found[receipt.id, default: []].append(receipt.entry)
            }
            for id in order {
                let kept: WaitingNotification?
                do { kept = try agent.store.notification(id) } catch {
                    logger.warning(
                        "the states of a notification are reported without its title",
                        metadata: [LogKey.notification: "\(id)", LogKey.error: "\(error)"])
                    kept = nil
                }
                let content = kept?.effectiveContent
                let title = content.map { $0.title.isEmpty ? $0.body : $0.title } ?? ""
                events(
                    .reported(
                        ReportedStates(notification: id, app: kept?.app, title: title, states: states[id] ?? [])))
            }
        }
    }
}
