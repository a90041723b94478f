/// The steps of the agent: its commits, and its effects on the outside between two commits.
///
/// A debug build can be made to end before or after any of them, as if the power failed there (see ``FaultPlan``).
/// Tests check from outside what must hold then. In a release build a step is only its body.
package enum AgentStep: String, CaseIterable, Sendable {
    /// Each is the commit of one kind of ``StoreChange``, and is named by what that stores.
    case storeArrival, storeAcknowledged, storeHandled, storeAppearance, storeLeftUnhandled, storePresented, storeTap
    case storeDismissal, storeLeftScreen, storeResponseHandled, storeResponsesDropped, storeReceiptsConfirmed
    case storeFired, storeScheduled, storeUnscheduled, storeUnlisted, storeStanding, storePreference
    case storeRemoval, storeBeginning, storeRelease, storeShownAgain
    case storeQuestion, storeDeferral, storeDue, storeMissed, storeAnchored, storeCrossed, storeExtended
    case storeUnderWay
    /// Each is a message to the server: that notifications are stored, and a batch of receipts.
    case acknowledge, report
    /// Each is a kind of message to an app.
    case handOver, confirmHandled, respond, confirmResponse, answerRequest
    /// Each is a call of the presenter.
    case present, withdraw, setBadge
    /// The start of an app's process, and of its service extension's.
    case startApp, startExtension
    /// A notification is sent to a service extension.
    case extend

    /// The moment at which the agent can be made to end: before or after a step.
    package enum Side: String, CaseIterable, Sendable { case before, after }
}
