import Foundation

/// The example in the page of a target, and the file by which the tests of the target compile it.
public struct PageExample {
    /// Why there is no example to compare.
    public struct Missing: Error, CustomStringConvertible {
        /// The page that shows none.
        public let page: String
        public var description: String { "\(page) has no block that begins with ```swift" }
    }

    /// The first block of Swift in the page, but for `@main`, which no test target can have.
    public let shown: String
    /// The text of the file.
    public let compiled: String

    /// Reads the page `Sources/SYSTEM/TARGET/README.md`, and the file of that name in the folder `Examples` beside the test.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - test: The path of the calling test, in `Tests/SYSTEM/TARGETTests`.
    public init(_ name: String, test: String = #filePath) throws {
        let tests = URL(fileURLWithPath: test).deletingLastPathComponent()
        var target = tests
        while !target.lastPathComponent.hasSuffix("Tests") && target.pathComponents.count > 1 {
            target.deleteLastPathComponent()
        }
        let system = target.deletingLastPathComponent().lastPathComponent
        let page = "Sources/\(system)/\(target.lastPathComponent.dropLast("Tests".count))/README.md"
        try self.init(name, page: Repository.root.appendingPathComponent(page), tests: tests)
    }

    /// Reads a guide, such as `Docs/show-a-picture.md`, and the file of that name beside the test.
    public init(_ name: String, guide: String, test: String = #filePath) throws {
        let tests = URL(fileURLWithPath: test).deletingLastPathComponent()
        try self.init(name, page: Repository.root.appendingPathComponent(guide), tests: tests)
    }

    private init(_ name: String, page: URL, tests: URL) throws {
        compiled = try String(contentsOf: tests.appendingPathComponent("Examples/\(name)"), encoding: .utf8)
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        guard let first = lines.firstIndex(of: "```swift"), let end = lines[first...].firstIndex(of: "```") else {
            throw Missing(page: page.standardizedFileURL.path)
        }
        shown = lines[first..<end].dropFirst().filter { $0 != "@main" }.map { $0 + "\n" }.joined()
    }
}
