import AgentProtocol
import AgentRuntime
import Foundation
import NIOCore
import NIOPosix
import Networking

/// Devices that are told at the same moment to fetch one picture: `MediaRate URL DEVICES SPREAD`. Each has the fetching of an
/// agent, with a folder and nothing else of its own. Prints a JSON object when all have an answer.
@main
enum MediaRate {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let devices = Int(arguments[2]), let spread = Double(arguments[3]) else {
            print("MediaRate URL DEVICES SPREAD")
            exit(2)
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("aldaba-media-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let request = MediaRequest(url: arguments[1], spread: spread)
        let begun = ContinuousClock.now
        let answers = await withTaskGroup(of: MediaAnswer.self) { group in
            for number in 0..<devices {
                let place = folder.appendingPathComponent("\(number)").path
                group.addTask { await answer(request, folder: place) }
            }
            var all: [MediaAnswer] = []
            for await answer in group { all.append(answer) }
            return all
        }
        let seconds = begun.duration(to: .now) / .seconds(1)
        let reasons = answers.compactMap { if case .failed(let failure) = $0 { failure.code } else { nil } }
        let report: [String: Any] = [
            "seconds": seconds, "fetched": answers.count - reasons.count,
            "failed": Dictionary(grouping: reasons) { $0 }.mapValues(\.count),
        ]
        print(String(decoding: try JSONSerialization.data(withJSONObject: report), as: UTF8.self))
    }

    private static func answer(_ request: MediaRequest, folder: String) async -> MediaAnswer {
        let fetcher = MediaFetcher(
            folder: folder, networks: [AddressRange("127.0.0.0/8")].compactMap { $0 },
            parts: MediaFetcher.Parts(
                resolver: SystemHostResolver(), sleep: { try await Task.sleep(for: $0) },
                random: { UInt64.random(in: 0 ... .max) }))
        let answer = await withCheckedContinuation { continuation in
            fetcher.begin(request, for: "com.example.bench", allowsHTTP: true) { continuation.resume(returning: $0) }
        }
        await fetcher.close()
        return answer
    }
}
