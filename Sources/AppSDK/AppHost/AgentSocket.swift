import CLinux
import Foundation
import Platform

/// Why a socket cannot be used, for people.
package struct AgentSocketError: Error {
    /// The failure, for people; `nil` when no agent listens, which is not worth a report.
    package let report: String?
}

/// The calls on a Unix stream socket that a connection is made of. All of them block.
package enum AgentSocket {
    /// Connects to the socket at a path, and makes sure that its owner is this user or the administrator.
    package static func connect(to path: String) throws(AgentSocketError) -> Int32 {
        guard let address = UnixAddress(path: path) else {
            throw AgentSocketError(
                report: "the path of the agent's socket must have 1 to \(UnixAddress.longestPath) bytes: \(path). "
                    + "Set ALDABA_AGENT_SOCKET to a shorter one, for agent and app.")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw AgentSocketError(report: "no socket: \(lastError())") }
        do {
            try connect(descriptor, to: address, path)
            try checkOwner(descriptor, path)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func connect(
        _ descriptor: Int32, to address: UnixAddress, _ path: String
    ) throws(AgentSocketError) {
        let answer = address.withPointer { Glibc.connect(descriptor, $0, $1) }
        guard answer == 0 else {
            let nobodyListens = errno == ENOENT || errno == ECONNREFUSED || errno == EINTR
            throw AgentSocketError(
                report: nobodyListens ? nil : "the agent at \(path) cannot be reached: \(lastError())")
        }
    }

    private static func checkOwner(_ descriptor: Int32, _ path: String) throws(AgentSocketError) {
        var peer = aldaba_peer()
        guard aldaba_peer_credentials(descriptor, &peer) == 0 else {
            throw AgentSocketError(report: "the owner of the agent's socket \(path) is not known: \(lastError())")
        }
        guard peer.uid == geteuid() || peer.uid == 0 else {
            throw AgentSocketError(
                report: "the agent at \(path) belongs to another user (\(peer.uid)). "
                    + "Set ALDABA_AGENT_SOCKET to the socket of your own agent.")
        }
    }

    /// Waits for bytes; `nil` at the end of the stream, or when it broke.
    package static func read(_ descriptor: Int32, into buffer: inout [UInt8]) -> ArraySlice<UInt8>? {
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { return buffer[..<count] }
            if count == 0 || errno != EINTR { return nil }
        }
    }

    /// Writes all bytes; `false` when the connection is gone.
    package static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[written...])
                return send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }

    private static func lastError() -> String { String(cString: strerror(errno)) }
}
