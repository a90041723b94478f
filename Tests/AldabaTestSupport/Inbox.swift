/// What came, in order; a test waits for the next that it wants and drops what came before it.
public final class Inbox<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    public init() { (stream, continuation) = AsyncStream.makeStream(of: Element.self) }

    public func put(_ element: Element) { continuation.yield(element) }
    public func finish() { continuation.finish() }

    /// `nil` when nothing more will come.
    public func next(where isWanted: @Sendable (Element) -> Bool = { _ in true }) async -> Element? {
        for await element in stream where isWanted(element) { return element }
        return nil
    }
}
