import Flutter
import Foundation

/// Has the other half of the app register again when the device token has changed.
@MainActor
public final class NotificationRegistrationService {
    /// The waits between attempts; the last one repeats.
    static let waits: [Duration] = [
        .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(32), .seconds(60),
    ]

    private let channel: FlutterMethodChannel
    private let pause: @MainActor (Duration) async -> Void
    private var attempt: Task<Void, Never>?
    private var isWishedAgain = false

    /// Calls on the channel `PREFIX/notificationregistration`.
    public convenience init(channelPrefix: String, binaryMessenger: any FlutterBinaryMessenger) {
        self.init(channelPrefix: channelPrefix, binaryMessenger: binaryMessenger) {
            // The wait ends early only when its task does.
            try? await Task.sleep(for: $0)
        }
    }

    /// - Parameter pause: Waits between two attempts.
    init(
        channelPrefix: String, binaryMessenger: any FlutterBinaryMessenger,
        pause: @escaping @MainActor (Duration) async -> Void
    ) {
        channel = FlutterMethodChannel(
            name: "\(channelPrefix)/notificationregistration", binaryMessenger: binaryMessenger)
        self.pause = pause
    }

    /// Asks for a refresh, and goes on asking until one succeeded.
    public func refreshRegistration() {
        isWishedAgain = true
        guard attempt == nil else { return }
        attempt = Task { [weak self] in await self?.refreshUntilDone() }
    }

    private func refreshUntilDone() async {
        var failures = 0
        while isWishedAgain {
            isWishedAgain = false
            guard await !succeeds() else {
                failures = 0
                continue
            }
            isWishedAgain = true
            await pause(Self.waits[min(failures, Self.waits.count - 1)])
            failures += 1
        }
        attempt = nil
    }

    private func succeeds() async -> Bool {
        await withCheckedContinuation { continuation in
            channel.invokeMethod("refreshRegistration", arguments: nil) { answer in
                let isMarker = (answer as? NSObject) === FlutterMethodNotImplemented
                continuation.resume(returning: !isMarker && !(answer is FlutterError))
            }
        }
    }
}
