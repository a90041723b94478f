import Foundation
import HubProtocol
import PushCore

/// The audiences of a hub in memory: how long they take to build and to ask, and how much room they need.
///
/// Installations have tags of several sizes: `half`, `tenth`, `hundredth`, `thousandth`, and one of 200 that share them all,
/// each picked by a hash of the number, so that another program can make the same ones.
@main
enum AudienceRate {
    static func main() throws {
        guard CommandLine.arguments.count == 2, let count = UInt32(CommandLine.arguments[1]), count > 0 else {
            print("usage: AudienceRate INSTALLATIONS")
            exit(2)
        }
        let before = residentMiB()
        var index = AudienceIndex()
        let building = seconds {
            for number in 1...count { index.insert(entry(number)) }
        }
        var figures: [String: Any] = [
            "installations": count, "entered a second": Double(count) / building,
            "memory, MiB": Double(index.memory) / 1_048_576, "resident, MiB": residentMiB() - before,
        ]
        let questions = [
            "three terms": "(half && tenth) || hundredth", "a negation": "half && !tenth && !hundredth",
            "200 terms": (0..<200).map { "group\($0)" }.joined(separator: " || "),
        ]
        let now = Timestamp(seconds: 1_000_000)
        for (name, text) in questions {
            let expression = try TagExpression(text)
            var times: [Double] = []
            for _ in 0..<51 {
                times.append(seconds { figures["\(name), meant"] = index.audience(expression, now: now).count })
            }
            times.sort()
            figures["\(name), p50 milliseconds"] = times[25] * 1000
            figures["\(name), p99 milliseconds"] = times[50] * 1000
        }
        let changes = seconds {
            for number in stride(from: UInt32(1), through: min(count, 100_000), by: 1) {
                let old = entry(number)
                index.remove(old)
                index.insert(old)
            }
        }
        figures["changed a second"] = Double(min(count, 100_000)) / changes
        let line = try JSONSerialization.data(withJSONObject: figures, options: [.sortedKeys])
        print(String(decoding: line, as: UTF8.self))
    }

    private static let names = (0..<200).compactMap { TagName("group\($0)") }
    private static let sizes = [("half", 2), ("tenth", 10), ("hundredth", 100), ("thousandth", 1000)].compactMap {
        name, part in TagName(name).map { ($0, UInt32(part)) }
    }

    /// An integer's hash (Wellons, lowbias32).
    private static func hash(_ number: UInt32) -> UInt32 {
        var value = number
        value = (value ^ (value >> 16)) &* 0x7feb_352d
        value = (value ^ (value >> 15)) &* 0x846c_a68b
        return value ^ (value >> 16)
    }

    private static func entry(_ number: UInt32) -> AudienceEntry {
        var tags = [names[Int(hash(number) % 200)]]
        for (place, (tag, part)) in sizes.enumerated() where hash(number &* 8 &+ UInt32(place)) % part == 0 {
            tags.append(tag)
        }
        return AudienceEntry(number: number, platform: .apns, tags: tags, seenAt: Timestamp(seconds: 900_000))
    }

    private static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let begin = ContinuousClock.now
        try body()
        let (whole, rest) = (ContinuousClock.now - begin).components
        return Double(whole) + Double(rest) / 1e18
    }

    private static func residentMiB() -> Double {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(separator: " ").compactMap { Double($0) }.first ?? 0) / 1024
    }
}
