import AgentEngine
import AgentProtocol
import Foundation
import Platform
import PushCore
import Synchronization

/// A program that is run for notifications where there is no screen: one run for each, with a JSON object on its
/// standard input (`notification`, `app`, `appName`, `identifier`, `title`, `subtitle`, `body`, `category`, `urgency`,
/// `image`).
///
/// Guarantees: eight runs at a time, each for ten seconds; 32 more are queued, in order, and further ones fail at once.
/// A run that ends with another status than 0 has not shown the notification.
final class PresenterHook: Sendable {
    /// The most runs at a time.
    static let limit = 8
    /// The most notifications that wait for a run to end.
    static let waitingLimit = 32
    private static let timeout = Duration.seconds(10)

    private let path: String
    private let environment: [String: String]
    private let work = Mutex(Work())

    private struct Job: Sendable {
        var presentation: Presentation
        var complete: @Sendable (PresentationOutcome) -> Void
    }

    private struct Work {
        var running = 0
        var waiting: [Job] = []
    }

    init(path: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.path = path
        self.environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
    }

    func run(_ presentation: Presentation, then complete: @escaping @Sendable (PresentationOutcome) -> Void) {
        let job = Job(presentation: presentation.withPlainDirections, complete: complete)
        let (isTaken, mayBegin) = work.withLock { work in
            if work.running < Self.limit {
                work.running += 1
                return (true, true)
            }
            guard work.waiting.count < Self.waitingLimit else { return (false, false) }
            work.waiting.append(job)
            return (true, false)
        }
        guard isTaken else {
            return complete(.failed(reason: "\(Self.waitingLimit) notifications wait for runs of \(path) already"))
        }
        if mayBegin { begin(with: job) }
    }

    /// Runs the program on a thread of its own for this one, and then for what waits.
    private func begin(with first: Job) {
        NamedThread.begin("aldaba-hook") { [self] in
            var job: Job? = first
            while let current = job {
                current.complete(outcome(of: current.presentation))
                job = next()
            }
        }
    }

    /// The job that has waited longest; `nil` ends the run.
    private func next() -> Job? {
        work.withLock { work in
            if work.waiting.isEmpty {
                work.running -= 1
                return nil
            }
            return work.waiting.removeFirst()
        }
    }

    private func outcome(of presentation: Presentation) -> PresentationOutcome {
        let program = ChildProgram(path: path, arguments: [], environment: environment)
        do throws(MachineError) {
            guard try program.run(input: Self.input(presentation), timeout: Self.timeout) != nil else {
                return .failed(reason: "\(path) did not end with status 0 within \(Self.timeout)")
            }
            return .presented(handle: nil, note: "told \(path)")
        } catch {
            return .failed(reason: error.description)
        }
    }

    private static func input(_ presentation: Presentation) -> Data {
        let message = Message(
            notification: presentation.notification.rawValue, app: presentation.app, appName: presentation.appName,
            identifier: presentation.identifier, title: presentation.title, subtitle: presentation.subtitle,
            body: presentation.body, category: presentation.category, urgency: "\(presentation.urgency)",
            image: presentation.image)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ((try? encoder.encode(message)) ?? Data()) + Data("\n".utf8)
    }

    private struct Message: Encodable {
        var notification: Int64
        var app: BundleID
        var appName, identifier, title, subtitle, body, category, urgency: String
        var image: String?
    }
}
