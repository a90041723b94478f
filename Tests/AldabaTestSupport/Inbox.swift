/// What came, in order; a test waits for the next that it wants and drops what came before it.
package final class Inbox<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    package init() { (stream, continuation) = AsyncStream.makeStream(of: Element.self) }

    package func put(_ element: Element) { continuation.yield(element) }
    package func finish() { continuation.finish() }

    /// `nil` when nothing more will come.
    package func next(where isWanted: @Sendable (Element) -> Bool = { _ in true }) async -> Element? {
        for await element in stream where isWanted(element) { return element }
        return nil
    }
}
