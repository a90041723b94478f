import Synchronization

/// A value of the app that several threads read.
struct Shared<Value>: @unchecked Sendable {
    // Sendable is unchecked, since Apple's protocols do not require it of attributes and content states. They are made
    // by the app or by JSONDecoder, are held by a constant, and no code of this module changes one. An app whose types
    // are classes must not change their objects after it gave them away.
    let value: Value
}

/// Values that are kept, and readers that get them first and then each new one. All methods may be called on any thread.
final class Broadcast<Value>: Sendable {
    private struct State {
        var kept: [Shared<Value>]
        var readers: [Int: AsyncStream<Shared<Value>>.Continuation] = [:]
        var lastReader = 0
        var isFinished = false
    }

    private let state: Mutex<State>
    private let waitingLimit: Int

    /// Makes a broadcast.
    ///
    /// - Parameters:
    ///   - waitingLimit: The newest values that wait for a reader.
    init(_ kept: [Value] = [], waitingLimit: Int = 1) {
        state = Mutex(State(kept: kept.map(Shared.init)))
        self.waitingLimit = waitingLimit
    }

    /// The values that are kept now.
    var kept: [Value] { state.withLock(\.kept).map(\.value) }

    /// Changes what is kept, and sends what `change` answers with; `nil` sends nothing.
    func send(_ change: (inout [Shared<Value>]) -> Shared<Value>?) {
        state.withLock { state in
            guard !state.isFinished, let value = change(&state.kept) else { return }
            for reader in state.readers.values { reader.yield(value) }
        }
    }

    /// Ends the streams of all readers.
    func finish() {
        let readers = state.withLock { state in
            state.isFinished = true
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        // Outside the lock, which `onTermination` takes.
        for reader in readers { reader.finish() }
    }

    /// A stream for another reader, which begins with what is kept.
    func stream() -> AsyncStream<Shared<Value>> {
        let (stream, reader) = AsyncStream<Shared<Value>>.makeStream(
            bufferingPolicy: .bufferingNewest(waitingLimit))
        let number: Int? = state.withLock { state in
            for value in state.kept { reader.yield(value) }
            guard !state.isFinished else { return nil }
            state.lastReader += 1
            state.readers[state.lastReader] = reader
            return state.lastReader
        }
        guard let number else {
            reader.finish()
            return stream
        }
        reader.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.readers.removeValue(forKey: number) } }
        return stream
    }
}

extension Broadcast where Value: Equatable {
    /// Keeps one value, and sends it where it is another than before.
    func set(_ value: Value) {
        let value = Shared(value: value)
        send { kept in
            guard kept.last?.value != value.value else { return nil }
            kept = [value]
            return value
        }
    }
}
