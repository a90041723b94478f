import Foundation
import PushModel
import Synchronization

/// A program that is told of notifications where there is no screen: one run for each, with a JSON object on its standard
/// input (`notification`, `app`, `appName`, `identifier`, `title`, `subtitle`, `body`, `category`, `urgency`, `image`).
///
/// Bounded: eight at a time, each for ten seconds; what is more waits for nobody and fails. One that ends with another status
/// than 0 has not shown the notification.
final class PresenterHook: Sendable {
    private static let limit = 8
    private static let patience = Duration.seconds(10)

    private let path: String
    private let environment: [String: String]
    private let running = Mutex(0)

    init(path: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.path = path
        self.environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
    }

    func run(_ presentation: Presentation, then complete: @escaping @Sendable (PresentationOutcome) -> Void) {
        let mayRun = running.withLock { running in
            guard running < Self.limit else { return false }
            running += 1
            return true
        }
        guard mayRun else { return complete(.failed(reason: "\(Self.limit) runs of \(path) are not over yet")) }
        let thread = Thread { [self] in
            let outcome = outcome(of: presentation)
            running.withLock { $0 -= 1 }
            complete(outcome)
        }
        thread.name = "aldaba-hook"
        thread.start()
    }

    private func outcome(of presentation: Presentation) -> PresentationOutcome {
        let program = ChildProgram(path: path, arguments: [], environment: environment)
        do throws(AppLaunchFailure) {
            guard try program.run(input: Self.input(presentation), patience: Self.patience) != nil else {
                return .failed(reason: "\(path) did not end with status 0 within \(Self.patience)")
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
        var app, appName, identifier, title, subtitle, body, category, urgency: String
        var image: String?
    }
}
