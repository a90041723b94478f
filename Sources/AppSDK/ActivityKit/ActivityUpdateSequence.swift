/// The values of something that changes: first what it is, then what it becomes.
///
/// A reader that is slow misses values in between and gets the newest; of activities it gets all, up to 64 that wait.
public struct ActivityUpdateSequence<Element>: AsyncSequence, Sendable {
    /// The error of the sequence: it has none.
    public typealias Failure = Never

    private let source: Broadcast<Element>

    init(_ source: Broadcast<Element>) { self.source = source }

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: source.stream().makeAsyncIterator()) }

    /// The values for one reader.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var stream: AsyncStream<Shared<Element>>.Iterator

        /// Waits for the next value; `nil` when there will be none.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await stream.next(isolation: actor)?.value
        }
    }
}
