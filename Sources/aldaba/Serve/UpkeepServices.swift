import APNsProtocol
import AldabaConfiguration
import ControlAPI
import FCMFrontend
import FCMProtocol
import Logging
import Networking
import Platform
import PushCore
import PushServer
import ServiceLifecycle

/// Runs mailboxes and store; ends last, when no endpoint asks anything any more.
struct CoreService: Service, CustomStringConvertible {
    let parts: ServerParts
    /// The service group logs its services by this text: their parts say little, and some are secret.
    var description: String { "mailboxes and store" }

    func run() async throws {
        parts.mailboxes.start()
        try? await gracefulShutdown()
        await parts.mailboxes.stop()
        parts.node?.carrier.stop()
        try parts.databases.close()
    }
}

/// Looks at the register when it has changed, and once a second.
struct RegisterWatchService: Service, CustomStringConvertible {
    let parts: ServerParts
    var description: String { "register watch" }

    func run() async throws {
        let entries = RegisterEntries(parts.store, hub: parts.databases.hub)
        let watch = RegisterWatch(
            store: parts.store.register, credentials: parts.credentials, apps: parts.apps,
            mailboxes: parts.mailboxes,
            reloadOthers: {
                try await parts.certificates.reload()
                try await parts.serviceAccounts.reload()
            }, entries: { try await entries.all() }, logger: parts.logger)
        // A change comes from another process, and wakes the thread at once.
        let (changes, noted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        NamedThread.begin("register") { [register = parts.store.register] in
            var seen = register.registerVersion
            repeat {
                register.waitForRegisterChange(since: seen, milliseconds: 1000)
                seen = register.registerVersion
            } while !noted.yield().isTerminated
        }
        // A script that makes a thousand changes has the register read ten times a second, not a thousand.
        await cancelWhenGracefulShutdown {
            await watch.follow(changes) { try? await Task.sleep(for: .milliseconds(100)) }
        }
    }
}

extension AsyncStream.Continuation.YieldResult {
    /// Whether no consumer is left.
    fileprivate var isTerminated: Bool {
        if case .terminated = self { true } else { false }
    }
}

/// Goes on with withdrawals of broadcasts that an earlier run began, and ends what has expired, once a minute.
struct TopicService: Service, CustomStringConvertible {
    let broadcasts: Broadcasts
    /// Whether this server does it; of several nodes one does.
    let isOnDuty: @Sendable () -> Bool
    let logger: Logger
    var description: String { "upkeep of broadcasts" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await attempt { try await broadcasts.resume() }
            while (try? await Task.sleep(for: .seconds(60))) != nil {
                if isOnDuty() { await attempt { try await broadcasts.sweep() } }
            }
        }
    }

    /// Runs work and logs its failure: the next round, or the next run, repeats whatever the store did not accept.
    private func attempt(_ work: () async throws -> Void) async {
        do { try await work() } catch {
            logger.warning("broadcasts could not be looked after", metadata: [LogKey.error: "\(error)"])
        }
    }
}

/// Gives the system back what a flood of connections took, once they are closed.
struct MallocTrimService: Service, CustomStringConvertible {
    var description: String { "memory" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(10))) != nil { MallocTrim.giveBack() }
        }
    }
}

/// Deletes the files that have expired, once a minute.
struct MediaSweepService: Service, CustomStringConvertible {
    let store: MediaStore
    let logger: Logger
    var description: String { "sweep over media" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(60))) != nil {
                do { try await store.runBlocking { try store.sweep() } } catch is CancellationError {
                    // Where the pool has ended, so does the process.
                } catch {
                    logger.warning("expired files were not deleted", metadata: [LogKey.error: "\(error)"])
                }
            }
        }
    }
}
