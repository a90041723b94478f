import BackgroundTasks
import Foundation
import Testing

/// Code as apps write it for work in the background: it learns that there is none.
struct SchedulerTests {
    private static let identifier = "com.example.todo.refresh-\(UUID().uuidString)"

    @Test func `a request is refused, for the reason that there is`() async throws {
        let scheduler = BGTaskScheduler.shared
        let request = BGAppRefreshTaskRequest(identifier: Self.identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 60)
        #expect { try scheduler.submit(request) } throws: {
            ($0 as? BGTaskScheduler.Error)?.code == .notPermitted
                && $0.localizedDescription.contains(Self.identifier)
        }
        #expect(scheduler.register(forTaskWithIdentifier: Self.identifier, using: nil) { _ in })
        #expect(!scheduler.register(forTaskWithIdentifier: Self.identifier, using: nil) { _ in })
        var isUnavailable = false
        do { try scheduler.submit(request) } catch BGTaskScheduler.Error.unavailable { isUnavailable = true }
        #expect(isUnavailable)
        #expect(await scheduler.pendingTaskRequests().isEmpty)
        scheduler.cancel(taskRequestWithIdentifier: Self.identifier)
        scheduler.cancelAllTaskRequests()
    }

    @Test func `codes are Apple's`() {
        #expect(BGTaskScheduler.errorDomain == "BGTaskSchedulerErrorDomain")
        #expect(
            [BGTaskScheduler.Error.Code.unavailable, .tooManyPendingTaskRequests, .notPermitted].map(\.rawValue)
                == [1, 2, 3])
    }

    @Test func `a copy of a request has its values`() throws {
        let request = BGProcessingTaskRequest(identifier: "a")
        request.requiresExternalPower = true
        request.earliestBeginDate = Date(timeIntervalSince1970: 1)
        let copy = try #require(request.copy() as? BGProcessingTaskRequest)
        #expect(copy !== request && copy.identifier == "a" && copy.requiresExternalPower)
        #expect(!copy.requiresNetworkConnectivity && copy.earliestBeginDate == request.earliestBeginDate)
    }
}
