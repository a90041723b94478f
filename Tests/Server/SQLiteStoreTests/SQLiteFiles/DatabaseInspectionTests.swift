import AldabaTestSupport
import Foundation
import GRDB
import SQLiteStore
import Testing

/// A database's file is looked at before it is opened.
@Suite struct DatabaseInspectionTests {
    private func fault(_ files: DatabaseFiles) -> DatabaseFault? {
        do {
            _ = try files.inspection.begin()
            return nil
        } catch { return error }
    }

    private func isDamaged(_ fault: DatabaseFault?) -> Bool {
        if case .damaged = fault?.kind { true } else { false }
    }

    @Test(arguments: ServerDatabase.allCases)
    func `a database as it was made is in order, and the look changes nothing`(database: ServerDatabase) async throws {
        let files = try await DatabaseFiles(database)
        #expect(try files.inspection.begin())
        #expect(try !files.inspection.begin(limit: 0), "a longer one is not read whole")
        var tables = 0
        try files.inspection.readAll { _ in
            tables += 1
            return true
        }
        #expect(tables > 3)
        #expect(try Data(contentsOf: URL(filePath: files.path)) == files.good)
    }

    @Test(arguments: ServerDatabase.allCases)
    func `a byte that differs in the header, the schema or a leaf is damage`(database: ServerDatabase) async throws {
        let files = try await DatabaseFiles(database)
        // The magic text; how many pages there are; a table's definition, of which a queued message differs; a page's kind.
        let definition = try #require(files.place(of: "CREATE TABLE \(files.table)("))
        for place in [3, 29, definition + 14, try files.page(of: files.table)] {
            try files.flip(place, bits: 0x08)
            let fault = fault(files)
            #expect(isDamaged(fault), "\(place)")
            #expect(
                fault?.description.contains(files.path) == true
                    && fault?.reason.contains(files.folder.path("")) == false)
        }
        try files.write(files.good)
        #expect(fault(files) == nil)
    }

    @Test(arguments: ServerDatabase.allCases)
    func `damage in a file that is too long to be read at the start is found by the reading beside the server`(
        database: ServerDatabase
    ) async throws {
        let files = try await DatabaseFiles(database)
        try files.flip(try files.page(of: files.table), bits: 0x08)
        #expect(try !files.inspection.begin(limit: 1 << 12))
        #expect(throws: DatabaseFault.self) { try files.inspection.readAll { _ in true } }
        var read = 0
        try files.inspection.readAll { _ in
            read += 1
            return false
        }
        #expect(read == 1, "it ends where it is told to")
    }

    @Test(arguments: ServerDatabase.allCases)
    func `a file that was cut, is empty, is something else or is of a newer version is told apart`(
        database: ServerDatabase
    ) async throws {
        let files = try await DatabaseFiles(database)
        try files.write(files.good.prefix(files.good.count / 2 / DatabaseFiles.pageSize * DatabaseFiles.pageSize))
        #expect(isDamaged(fault(files)))
        try files.write(Data())
        #expect(fault(files)?.kind == .empty)
        try files.write(Data(repeating: 0x78, count: 20_000))
        #expect(isDamaged(fault(files)))
        try files.write(files.good)
        let queue = try DatabaseQueue(path: files.path)
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES('999 of another day')") }
        try queue.close()
        #expect(fault(files)?.kind == .newer)
        try FileManager.default.removeItem(atPath: files.path)
        guard case .unusable = fault(files)?.kind else { return #expect(Bool(false), "a file that is not there") }
    }

    @Test func `a value of another type than its column's is damage, and what others have added is not`() async throws {
        let files = try await DatabaseFiles(.hub)
        func change(_ sql: String) throws {
            try files.write(files.good)
            let queue = try DatabaseQueue(path: files.path)
            try queue.write { try $0.execute(sql: sql) }
            try queue.close()
        }
        try change(
            "CREATE INDEX by_day ON hub(created_at); CREATE TABLE theirs(day INTEGER); INSERT INTO theirs VALUES('x')")
        #expect(fault(files) == nil)
        for value in ["'yesterday'", "X'00'", "1.5"] {
            try change("UPDATE hub SET created_at = \(value) WHERE number = 3")
            #expect(isDamaged(fault(files)), "\(value)")
            try change("DROP INDEX send_ended")
            #expect(isDamaged(fault(files)))
        }
    }

    @Test(arguments: ServerDatabase.allCases)
    func `whatever byte differs, a database is refused or can be read`(database: ServerDatabase) async throws {
        let files = try await DatabaseFiles(database)
        var generator = SeededGenerator(seed: 7)
        // Those of two pages that hold something.
        let pages = [0, try files.page(of: files.table)].map { page in
            (page..<page + DatabaseFiles.pageSize).filter { files.good[$0] != 0 }
        }
        var refused = 0
        for turn in 0..<160 {
            let place = try #require(pages[turn % 2].randomElement(using: &generator))
            try files.flip(place, bits: UInt8.random(in: 1...255, using: &generator))
            if fault(files) != nil {
                refused += 1
            } else {
                // Nothing here ends the process, whatever is thrown.
                do { try await files.open() } catch { #expect(error is DatabaseFault, "\(place): \(error)") }
            }
        }
        #expect(refused > 40)
    }
}
