import CPQ
import Glibc

/// Connects to all hosts of an address at once, and keeps the first that accepts: a host that stands still delays nothing.
///
/// libpq by itself tries one host after the other. With the parameter `target_session_attrs` a host accepts only what it says.
struct PostgresConnector {
    /// A connection that is being made.
    private struct Attempt {
        var handle: OpaquePointer
        var host: String
        var waitsFor = Int16(POLLOUT)
    }

    private let parameters: [String: String]

    /// Reads parameters in their order, in which later ones count; `dbname` may be a URL with any of them.
    init(_ pairs: [(key: String, value: String)]) throws {
        var parameters: [String: String] = [:]
        for (key, value) in pairs {
            if key == "dbname", value.contains("://") || value.contains("=") {
                parameters.merge(try Self.parts(of: value)) { $1 }
            } else {
                parameters[key] = value
            }
        }
        self.parameters = parameters
    }

    private static func parts(of address: String) throws -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(address, &message) else {
            defer { PQfreemem(message) }
            throw PostgresError(
                code: nil, message: message.map { PostgresConnection.line($0) } ?? "the address is malformed")
        }
        defer { PQconninfoFree(options) }
        var parts: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parts[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parts
    }

    /// The parameters of each host.
    private var hosts: [[String: String]] {
        func list(_ name: String) -> [String] {
            parameters[name]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count)
        guard count > 1 else { return [parameters] }
        return (0..<count).map { index in
            var own = parameters
            own["host"] = index < names.count ? names[index] : nil
            own["hostaddr"] = index < addresses.count ? addresses[index] : nil
            own["port"] = ports.count > 1 && index < ports.count ? ports[index] : ports.first
            return own
        }
    }

    /// Connects.
    ///
    /// - Throws: ``PostgresError`` with the fault of each host.
    func connect(within limit: Duration) throws -> OpaquePointer {
        let deadline = ContinuousClock.now + limit
        var faults: [String] = []
        var attempts = try hosts.map { try begin($0) }
        defer { for attempt in attempts { PQfinish(attempt.handle) } }
        while !attempts.isEmpty, ContinuousClock.now < deadline {
            for index in attempts.indices.reversed() {
                switch PQstatus(attempts[index].handle) {
                case CONNECTION_OK: return attempts.remove(at: index).handle
                case CONNECTION_BAD: faults.append(fault(of: attempts.remove(at: index)))
                default: break
                }
            }
            wait(&attempts, until: deadline)
        }
        faults += attempts.map { "\($0.host) did not answer within \(limit)" }
        throw PostgresError(code: nil, message: faults.joined(separator: "; "))
    }

    private func begin(_ parameters: [String: String]) throws -> Attempt {
        let names = parameters.map { strdup($0.key) }
        let values = parameters.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        var keywords = names.map { UnsafePointer($0) } + [nil]
        var contents = values.map { UnsafePointer($0) } + [nil]
        guard let handle = PQconnectStartParams(&keywords, &contents, 0) else {
            throw PostgresError(code: nil, message: "there is no memory for a connection")
        }
        return Attempt(handle: handle, host: parameters["host"] ?? parameters["hostaddr"] ?? "the server")
    }

    private func fault(of attempt: Attempt) -> String {
        defer { PQfinish(attempt.handle) }
        return PostgresConnection.line(PQerrorMessage(attempt.handle))
    }

    /// Waits until one of the sockets is ready, and lets libpq go on with those that are.
    private func wait(_ attempts: inout [Attempt], until deadline: ContinuousClock.Instant) {
        guard !attempts.isEmpty else { return }
        var sockets = attempts.map { pollfd(fd: PQsocket($0.handle), events: $0.waitsFor, revents: 0) }
        let left = (deadline - .now).components
        let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
        // A signal interrupts it; the caller comes again.
        guard poll(&sockets, nfds_t(sockets.count), Int32(clamping: max(0, milliseconds))) > 0 else { return }
        for index in attempts.indices where sockets[index].revents != 0 {
            let state = PQconnectPoll(attempts[index].handle)
            attempts[index].waitsFor = Int16(state == PGRES_POLLING_READING ? POLLIN : POLLOUT)
        }
    }
}
