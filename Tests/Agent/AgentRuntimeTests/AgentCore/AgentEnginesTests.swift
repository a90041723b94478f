import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

@Suite struct AuthorizationQuestionsTests {
    @Test func `an app is asked about once, and all who ask hear the answer`() {
        var questions = AuthorizationQuestions<Int>()
        guard case .ask(let id) = questions.ask("a", options: 7, asker: 1) else {
            Issue.record("the first is asked")
            return
        }
        #expect(questions.ask("a", options: 1, asker: 2) == .joined)
        #expect(questions.ask("b", options: 1, asker: 3) != .joined)
        questions.removeAskers { $0 == 1 }
        let closed = questions.close(id)
        #expect(closed?.askers == [2])
        #expect(closed?.options == 7)
        #expect(questions.id(of: "a") == nil)
        #expect(questions.close(id) == nil)
    }

    @Test func `no more wait for one answer than may`() {
        var questions = AuthorizationQuestions<Int>()
        _ = questions.ask("a", options: 7, asker: 0)
        for asker in 1..<AuthorizationQuestions<Int>.askerLimit {
            #expect(questions.ask("a", options: 7, asker: asker) == .joined)
        }
        #expect(questions.ask("a", options: 7, asker: 64) == .refused)
    }

    @Test func `ids of questions are those of no notification, and differ`() {
        var questions = AuthorizationQuestions<Int>()
        let ids = (0..<3).map { _ in questions.nextID() }
        #expect(Set(ids).count == 3)
        #expect(ids.allSatisfy { $0.rawValue < -1 << 40 })
    }
}

@Suite struct ChangeBatchTests {
    private func dismissal(_ id: Int64) -> StoreChange {
        .dismissed(NotificationID(rawValue: id), at: Timestamp(rawValue: 0))
    }

    @Test func `one commit is scheduled for what comes together`() {
        var batch = ChangeBatch<Int>()
        #expect(batch.add(.confirmed([])) == true)
        #expect(batch.add(.confirmed([])) == false)
        #expect(batch.take().changes.count == 2)
        #expect(batch.isEmpty)
        #expect(batch.add(.confirmed([])) == true)
    }

    @Test func `of a batch that failed stays what nobody says again`() {
        var batch = ChangeBatch<Int>()
        _ = batch.add(.confirmed([]))
        _ = batch.add(dismissal(1))
        batch.delete(["a file"])
        batch.wait(1)
        let taken = batch.take()
        #expect(taken.filesToDelete == ["a file"])
        #expect(batch.failed(taken.changes) == true)
        #expect(batch.changes.count == 1 && batch.holdsWhatIsKept)
        #expect(batch.takeWaiting() == [], "nobody is told that it is durable")
        #expect(batch.add(dismissal(2)) == false, "a commit is scheduled already")
    }

    @Test func `no more stays over failed commits than the limit says`() {
        var batch = ChangeBatch<Int>()
        for id in 1...1_500 { _ = batch.add(dismissal(Int64(id))) }
        _ = batch.failed(batch.take().changes)
        #expect(batch.changes.count == ChangeBatch<Int>.keptLimit)
    }
}
