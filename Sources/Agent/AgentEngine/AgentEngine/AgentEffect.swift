import AgentProtocol
import Logging
import PushCore
import Scheduling

/// An action that the agent performs for the engine.
package enum AgentEffect: Sendable {
    // MARK: The store
    /// Commit the batch, after the work that is on the event loop already.
    case commit
    /// The store could not be read: call ``AgentEngine/storeFailed(_:)``, and log the error.
    case storeFailed(any Error)
    /// Delete old notifications of these apps.
    case prune(Set<BundleID>)
    /// Delete the files of an app that was removed, and end what others do for it.
    case removed(BundleID)

    // MARK: Connections
    /// Send messages over a connection, as a step of the agent where one is named.
    case send([AgentMessage], AppConnectionID, AgentStep?)
    /// Send the reason, and close the connection.
    case refuse(AppConnectionID, code: String, message: String)
    /// Close the connection.
    case close(AppConnectionID)

    // MARK: The screen
    /// Show a notification, and pass the outcome to ``AgentEngine/presented(_:outcome:again:context:)``.
    case present(Presentation, WaitingNotification, again: Bool)
    /// Show a question about an app, and pass the outcome to ``AgentEngine/questionShown(_:_:)``.
    case ask(Presentation)
    /// Change what is on the screen.
    case update(Presentation)
    /// Take a notification off the screen.
    case withdraw(NotificationID)
    /// Show a number on an icon.
    case badge(Int, desktopEntry: String)
    /// Play a sound that comes without a text.
    case play(Presentation.Sound, volume: Double?)
    /// Ask for text in a window, and pass the answer to ``AgentEngine/replied(_:answer:context:)``.
    case askForReply(ReplyRequest)

    // MARK: Apps
    /// Have the session bus bring an app to the front, and supervise the outcome.
    case activate(BundleID, AppActivation)
    /// Start an app's program, and supervise its process.
    case launch(BundleID, token: String?)
    /// An app is connected.
    case connected(BundleID)
    /// An app has its device token.
    case registered(BundleID, token: String)
    /// Pass this to the queue of service extensions.
    case extend(ExtensionQueue.Event)
    /// Have an address opened, or examined, and send the answer.
    case open(String, isTrial: Bool, Confirmation)
    /// Read after a while what waits for service extensions.
    case reloadExtensions

    // MARK: Time and place
    /// Call ``AgentEngine/timePassed(_:_:)`` after this time, unless the agent has ended; other work runs first.
    case wait(Duration, then: AgentTimer)
    /// Have the alarm clock ring; `nil` for never.
    case arm(Timestamp?)
    /// Have positions reported from now on, or no longer.
    case watchPosition(Bool)
    /// Commit the batch, then read all that waits (``AgentEngine/loadSchedule(_:)``).
    case loadSchedule
    /// Commit the batch, then read an app's requests again (``AgentEngine/rereadRequests(of:_:)``).
    case rereadRequests(BundleID)
    /// Commit the batch, then look what expires next (``AgentEngine/resumeExpiry(_:)``).
    case resumeExpiry

    // MARK: The server
    /// Call the link.
    case link(AgentLinkCall)

    // MARK: UnifiedPush
    /// Perform a directive, which is none of the store's.
    case unifiedPush(UnifiedPushEngine.Directive)

    // MARK: The log
    /// Write a line.
    case log(Logger.Level, String, metadata: Logger.Metadata)
    /// Write what the schedule noticed.
    case logSchedule(RequestSchedule.Notice)
    /// Write what an app's supervisor noticed.
    case logSupervisor(AppSupervisor<AppConnectionID>.Notice, BundleID)
}

/// A call to the link to the server.
package enum AgentLinkCall: Sendable, Hashable {
    /// Acknowledge notifications of a session: they are stored.
    case acknowledge([NotificationID], session: Int)
    /// The outbox of receipts, messages or topics was committed.
    case receiptsCommitted, upstreamCommitted, topicsCommitted
    /// An app is here, and its team.
    case appInstalled(BundleID, team: TeamID)
    /// An app needs its device token.
    case requestToken(BundleID)
    /// An app's device token is to end.
    case requestTokenEnd(BundleID)
    /// The session must be reopened.
    case closeSession
}

/// An action that is due after a delay.
package enum AgentTimer: Sendable {
    /// Passes an event to an app's supervisor.
    case supervise(AppSupervisor<AppConnectionID>.Event, BundleID)
    /// The time is over in which an app may answer how notifications appear.
    case answersDue(BundleID)
    /// The responses of an app are read again.
    case giveResponses(BundleID, token: String?)
    /// Ends the notifications and messages that have expired at this instant.
    case expire(Timestamp)
    /// A question that an earlier run left on the screen leaves it.
    case forgetQuestion(NotificationID, BundleID)
    /// An event of the presenter is handled again.
    case presenterEvent(PresenterEvent)
    /// Updates the notifications on the screen, since the screen was locked or unlocked.
    case refreshPreviews
    /// Passes an event to the schedule.
    case schedule(RequestSchedule.Event)
    /// Live Activities change by themselves at this moment.
    case liveActivities(Timestamp)
    /// The manifest of an app that was missing is looked for again.
    case lookForApp(BundleID)
}

/// A person wants to answer with text, and the desktop cannot ask for it.
package struct ReplyRequest: Sendable {
    /// The notification that the person answers.
    package var notification: WaitingNotification
    /// The identifier of the button that was pressed.
    package var button: String
    /// The texts of the window.
    package var question: ReplyQuestion
    /// The XDG activation token with which the app may take the focus.
    package var activationToken: String?
}
