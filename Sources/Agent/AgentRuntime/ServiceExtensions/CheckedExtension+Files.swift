import AgentEngine
import AgentProtocol
import Foundation
import NIOPosix
import Platform
import PushCore

/// The check of what an extension gave back, with its files.
extension CheckedExtension {
    /// The greatest size of content, in bytes of JSON: it goes to its app in one frame, together with its payload.
    static let sizeLimit = 256 << 10

    /// The fault in content, its files aside; `nil` where there is none.
    private static func fault(of content: NotificationContent) -> CheckedExtension? {
        guard content.showsText else {
            return CheckedExtension(.emptied, note: "what the extension gave back shows no text")
        }
        guard let size = try? JSONEncoder().encode(content).count, size <= sizeLimit else {
            return CheckedExtension(.unsendable, note: "it says more than \(sizeLimit) bytes of JSON")
        }
        return nil
    }

    /// Checks a result. Files are moved into the store, on a thread that may wait for the disk.
    ///
    /// - Parameters:
    ///   - bundle: The files that the app came with, which stay in place.
    ///   - named: The files that notifications name; asked for on that thread.
    ///   - complete: Called once: at once, or on that thread.
    package static func check(
        _ report: ExtensionReport, of app: BundleID, bundle: AppBundle?, into store: AttachmentStore,
        named: @escaping @Sendable () throws -> Set<String>,
        then complete: @escaping @Sendable (CheckedExtension) -> Void
    ) {
        let missing = report.mediaFailures
        switch report.result {
        case .failed(let outcome, let note): complete(CheckedExtension(outcome, note: note))
        case .answered(.unchanged): complete(CheckedExtension(.unchanged, note: missing))
        case .answered(.unsendable(let reason)): complete(CheckedExtension(.unsendable, note: reason))
        case .answered(.changed(let content)):
            if let fault = fault(of: content) { return complete(fault) }
            guard !content.attachments.isEmpty else {
                return complete(CheckedExtension(.changed, content, note: missing))
            }
            NIOThreadPool.singleton.submit { state in
                // The agent's process ends; the notification is read again by the next one.
                guard case .active = state else { return }
                do throws(AttachmentError) {
                    let taken = try store.take(content.attachments, of: app, bundle: bundle, named: named)
                    var content = content
                    content.attachments = taken.attachments
                    complete(CheckedExtension(.changed, content, sources: taken.sources, note: missing))
                } catch {
                    complete(CheckedExtension(.attachmentRefused, note: error.message))
                }
            }
        }
    }
}
