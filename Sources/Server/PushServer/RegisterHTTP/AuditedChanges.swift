import Foundation
import PushCore

/// Makes changes by requests, each with its entry in the audit log around it.
package struct AuditedChanges: Sendable {
    private let log: AuditLog?

    /// Writes to a log; `nil` on a server that keeps none.
    package init(log: AuditLog?) { self.log = log }

    /// Makes a change.
    ///
    /// - Parameters:
    ///   - before: The document of the object before the change.
    ///   - naming: The name or id that the object got by the change.
    ///   - body: Makes the change, and returns the document of the object after it; the log has it without its secrets.
    /// - Throws: The errors of the change, and those of the log; nothing is changed where its entry cannot be written.
    package func make<Document: Encodable>(
        _ change: AuditChange, before: (any Encodable)? = nil,
        naming: (Document) -> String? = { _ in nil }, _ body: () async throws -> Document
    ) async throws -> Document {
        guard let log else { return try await body() }
        let actor = AuditActor.current
        let entry = try await log.begin(
            change, by: actor ?? .development, from: actor == nil ? .api : .console, before: before.flatMap(Self.tree))
        do {
            let document = try await body()
            try await log.end(
                entry, .done, object: naming(document), after: document is DeletedObject ? nil : Self.tree(document))
            return document
        } catch {
            try await log.end(entry, Self.outcome(of: error))
            throw error
        }
    }

    private static func outcome(of error: any Error) -> AuditOutcome {
        switch error {
        case is ControlError, is RegisterError: .refused
        default: .failed
        }
    }

    private static func tree(_ document: any Encodable) -> JSONValue? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The same document is the answer: one that cannot be encoded is none either.
        return (try? encoder.encode(document)).flatMap { try? JSONValue($0) }
    }
}

/// The document of an object that is gone.
package struct DeletedObject: Encodable {
    /// Creates the document, which has no members.
    package init() {}
}
