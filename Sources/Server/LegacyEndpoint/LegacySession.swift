import LegacyAPNsWire

/// One provider's conversation with the gateway: bytes and results in, directives out. A value, without sockets.
///
/// One burst of pushes is outstanding at a time. So the order is kept, an error names the first push that was not
/// taken, and no more waits than what one reading of the connection brings.
struct LegacySession {
    /// What the connection is to do.
    enum Directive: Hashable {
        /// Have these pushes judged and accepted, then call ``completed(_:)``.
        case take([LegacyPush])
        /// Read on.
        case read
        /// Write these bytes, if any, and end the connection.
        case close([UInt8])
    }

    /// What became of a burst.
    struct Outcome: Hashable {
        /// The identifier of the last push that was taken; `nil` when none was.
        var lastTaken: UInt32?
        /// Why the rest was not; `nil` when all were taken.
        var error: LegacyError?
    }

    /// How many pushes are outstanding at most.
    static let burst = 256

    private var decoder = LegacyFrameDecoder()
    private var lastTaken: UInt32 = 0
    private var isBusy = false
    private var isStopping = false
    private var hasInputEnded = false
    private(set) var isClosed = false

    /// Bytes came from the provider.
    mutating func received(_ bytes: some Collection<UInt8>) -> Directive? {
        guard !isClosed else { return nil }
        decoder.append(bytes)
        return next()
    }

    /// The provider sends nothing more; what has come is still taken.
    mutating func inputEnded() -> Directive? {
        hasInputEnded = true
        return next()
    }

    /// The server stops: what is outstanding is finished, and nothing more begun.
    mutating func stop() -> Directive? {
        isStopping = true
        return next()
    }

    /// The burst that was to be taken is done.
    mutating func completed(_ outcome: Outcome) -> Directive? {
        isBusy = false
        if let identifier = outcome.lastTaken { lastTaken = identifier }
        if var error = outcome.error {
            if error.status == .shutdown { error.identifier = lastTaken }
            return close(error.packet)
        }
        return next()
    }

    private mutating func next() -> Directive? {
        guard !isClosed, !isBusy else { return nil }
        if isStopping { return close(LegacyError(.shutdown, identifier: lastTaken).packet) }
        var pushes: [LegacyPush] = []
        var fault: LegacyError?
        do throws(LegacyError) {
            while pushes.count < Self.burst, let push = try decoder.next() { pushes.append(push) }
        } catch {
            fault = error
        }
        guard pushes.isEmpty else {
            // A fault behind them is found again when they are done.
            isBusy = true
            return .take(pushes)
        }
        if let fault { return close(fault.packet) }
        return hasInputEnded ? close([]) : .read
    }

    private mutating func close(_ packet: [UInt8]) -> Directive {
        isClosed = true
        return .close(packet)
    }
}
