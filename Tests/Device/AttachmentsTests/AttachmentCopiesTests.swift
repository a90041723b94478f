import Attachments
import Testing

@Suite struct AttachmentCopiesTests {
    private final class Connection {}

    @Test func `connections of one app take turns in the order in which they came`() {
        var copies = AttachmentCopies<Connection, String>()
        let (first, second, third, other) = (Connection(), Connection(), Connection(), Connection())
        copies.begin(first, of: "a")
        #expect(copies.isCopying(of: "a") && !copies.isCopying(of: "b"))
        copies.wait(second, of: "a", with: ["file 2"])
        copies.wait(third, of: "a", with: ["file 3"])
        copies.begin(other, of: "b")
        #expect(copies.append(["more"], from: second) == true)
        #expect(copies.append(["more"], from: Connection()) == false)
        #expect(copies.next(of: "a") == nil, "files of the app are being copied")
        #expect(copies.finish(first)?.messages == [])
        let next = copies.next(of: "a")
        #expect(next?.connection === second)
        #expect(next?.messages == ["file 2", "more"])
        #expect(copies.next(of: "a")?.connection === third)
    }

    @Test func `the end of a connection waits for what it said`() {
        var copies = AttachmentCopies<Connection, String>()
        let connection = Connection()
        #expect(copies.close(connection) == false)
        copies.begin(connection, of: "a")
        #expect(copies.close(connection) == true)
        #expect(copies.finish(connection)?.isClosed == true)
    }
}
