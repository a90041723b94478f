import APNsProtocol

/// A provider's session with the gateway: bytes and results in, directives out. A value, without sockets.
///
/// One burst of pushes is outstanding at a time. So the order is kept, an error refers to the first push that was not
/// accepted, and no more is buffered than one read of the connection.
struct LegacySession {
    /// A directive to the connection.
    enum Directive: Hashable {
        /// Check and accept these pushes, then call ``completed(_:)``.
        case take([LegacyPush])
        /// Continue reading.
        case read
        /// Write these bytes, if any, and end the connection.
        case close([UInt8])
    }

    /// The outcome of a burst.
    struct Outcome: Hashable {
        /// The identifier of the last push that was accepted; `nil` when none was.
        var lastTaken: UInt32?
        /// The error for the rest; `nil` when all were accepted.
        var error: LegacyError?
    }

    /// The maximum number of outstanding pushes.
    static let burst = 256

    private var decoder = LegacyFrameDecoder()
    private var lastTaken: UInt32 = 0
    private var isBusy = false
    private var isStopping = false
    private var hasInputEnded = false
    private(set) var isClosed = false

    /// Processes bytes from the provider.
    mutating func received(_ bytes: some Collection<UInt8>) -> Directive? {
        guard !isClosed else { return nil }
        decoder.append(bytes)
        return next()
    }

    /// Records the end of the provider's input; complete pushes are still processed.
    mutating func inputEnded() -> Directive? {
        hasInputEnded = true
        return next()
    }

    /// Stops the session: outstanding pushes are finished, and no more are begun.
    mutating func stop() -> Directive? {
        isStopping = true
        return next()
    }

    /// Records the outcome of the outstanding burst.
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
            // A fault after them is found again when they are done.
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
