import AppHost
import Platform

/// A connection of a host, read and written as `PacedStream` does.
final class ChannelConnection: Sendable {
    enum Notice: Sendable {
        case opened(ChannelConnection)
        case received([ChannelFrame], ChannelConnection)
        case ended(ChannelConnection)
    }

    private static let unwrittenLimit = 16 << 20

    private let stream: PacedStream

    private init(_ descriptor: Int32) {
        stream = PacedStream(descriptor, unwrittenLimit: Self.unwrittenLimit, writer: "aldaba.flutter.writer")
    }

    /// Reads in the background, and closes the descriptor at the end.
    static func begin(_ descriptor: Int32, notify: @escaping @Sendable (Notice) -> Void) {
        let connection = ChannelConnection(descriptor)
        NamedThread.begin("flutter-reader") {
            notify(.opened(connection))
            connection.readAll(notify)
            notify(.ended(connection))
        }
    }

    /// Lets the thread read the next batch.
    func readOn() { stream.readOn() }

    /// Ends the connection; what is queued may be lost.
    func close() { stream.close() }

    /// Queues a frame. A frame that is too long ends the connection, and is reported on standard error.
    func send(_ frame: ChannelFrame) {
        do { stream.send(try frame.bytes()) } catch {
            ChannelSocket.report("\(error)")
            close()
        }
    }

    private func readAll(_ notify: (Notice) -> Void) {
        var decoder = ChannelFrameDecoder()
        do throws(ChannelFrameError) {
            try stream.readAll { bytes throws(ChannelFrameError) in
                decoder.append(bytes)
                var frames: [ChannelFrame] = []
                while let frame = try decoder.next() { frames.append(frame) }
                guard !frames.isEmpty else { return false }
                notify(.received(frames, self))
                return true
            }
        } catch {
            ChannelSocket.report("the host sent what is no frame: \(error)")
        }
    }
}
