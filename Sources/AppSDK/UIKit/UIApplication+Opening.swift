import AgentProtocol
import AppHost
import Foundation
import Synchronization

// The agent decides about addresses, as it does about those of other devices.
extension UIApplication {
    /// Whether ``open(_:options:completionHandler:)`` would open an address: of the web, of a scheme of the app's own
    /// manifest, or of one that the person allows (`aldaba relay allow`) and for which the desktop has a program.
    ///
    /// The calling thread waits for the agent, a second at most; without an agent the result is false.
    public func canOpenURL(_ url: URL) -> Bool {
        let answered = DispatchSemaphore(value: 0)
        let isOpened = Mutex(false)
        host.requestOpening(url.absoluteString, isTrial: true) { answer in
            isOpened.withLock { $0 = answer == .opened || answer == .own }
            answered.signal()
        }
        _ = answered.wait(timeout: .now() + badgeLimit)
        return isOpened.withLock { $0 }
    }

    /// Has the desktop open an address. One with a scheme of the app's own manifest is given to the delegate's
    /// `application(_:open:options:)`.
    ///
    /// The handler is called on the main actor: with true when the desktop has taken the address, or the delegate
    /// has. The reason for false is on standard error. With `universalLinksOnly` nothing is opened.
    public func open(
        _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {
        guard options[.universalLinksOnly] as? Bool != true else {
            return DispatchQueue.main.async { MainActor.assumeIsolated { completion?(false) } }
        }
        host.requestOpening(url.absoluteString, isTrial: false) { answer in
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    let isTaken =
                        answer == .own
                        ? self.delegate?.application(self, open: url, options: [:]) ?? false : answer == .opened
                    completion?(isTaken)
                }
            }
        }
    }

    /// Has the desktop open an address, as ``open(_:options:completionHandler:)``.
    @discardableResult
    public func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool {
        await withCheckedContinuation { continuation in
            open(url, options: options) { continuation.resume(returning: $0) }
        }
    }
}
