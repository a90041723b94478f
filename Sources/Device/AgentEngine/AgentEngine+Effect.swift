import AgentWire
import AppConnections
import DeviceModel
import DevicePorts
import DeviceStore
import InstalledApps
import LocalSchedule
import Logging
import PushModel
import RequestScheduling
import ServiceExtensions

extension AgentEngine {
    /// What an agent is to do.
    package enum Effect: Sendable {
        // MARK: The store
        /// Commit the batch, after the work that is on the event loop already.
        case commit
        /// The store could not be read: say ``AgentEngine/storeFailed(_:)``, and log the error.
        case storeFailed(any Error)
        /// Delete old notifications of these apps.
        case prune(Set<BundleID>)
        /// Delete the files of an app that was removed, and end what others do for it.
        case removed(BundleID)

        // MARK: Connections
        /// Say this over a connection, as a step of the agent where one is named.
        case send([AgentMessage], AppConnection, AgentStep?)
        /// Say why, and close the connection.
        case refuse(AppConnection, code: String, message: String)
        /// Close the connection.
        case close(AppConnection)

        // MARK: The screen
        /// Show a notification, and tell ``AgentEngine/presented(_:_:again:_:)`` what became of it.
        case present(Presentation, WaitingNotification, again: Bool)
        /// Show a question about an app, and tell ``AgentEngine/questionShown(_:_:)`` what became of it.
        case ask(Presentation)
        /// Change what is on the screen.
        case update(Presentation)
        /// Take a notification off the screen.
        case withdraw(NotificationID)
        /// Show a number on an icon.
        case badge(Int, desktopEntry: String)
        /// Play a sound that comes without a text.
        case play(Presentation.Sound, volume: Double?)
        /// Ask for text in a window, and tell ``AgentEngine/replied(_:_:_:)`` what was typed.
        case askForReply(ReplyRequest)

        // MARK: Apps
        /// Have the session bus bring an app to the front, and supervise what becomes of that.
        case activate(BundleID, AppActivation)
        /// Start an app's program, and supervise its process.
        case launch(BundleID, token: String?)
        /// An app is connected.
        case connected(BundleID)
        /// An app has its device token.
        case registered(BundleID, token: String)
        /// Pass this to the queue of service extensions.
        case extend(ExtensionQueue.Event)
        /// Read after a while what waits for service extensions.
        case reloadExtensions

        // MARK: Time and place
        /// Tell ``AgentEngine/timePassed(_:_:)`` after this time, unless the agent has ended; after other work had its turn.
        case wait(Duration, then: Timer)
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
        case link(LinkCall)

        // MARK: The log
        /// Write a line.
        case log(Logger.Level, String, Logger.Metadata)
        /// Write what the schedule noticed.
        case logSchedule(RequestSchedule.Notice)
        /// Write what an app's supervisor noticed.
        case logSupervisor(AppSupervisor<AppConnection>.Notice, BundleID)
    }

    /// What the link to the server is told.
    package enum LinkCall: Sendable, Hashable {
        /// These are stored that the session brought.
        case stored([NotificationID], session: Int)
        /// Each says what was committed.
        case receiptsCommitted, upstreamCommitted, topicsCommitted
        /// An app is here, and its team.
        case appInstalled(BundleID, team: TeamID)
        /// An app needs its device token.
        case requestToken(BundleID)
        /// An app's device token is to end.
        case requestTokenEnd(BundleID)
        /// The session is to be opened anew.
        case closeSession
    }

    /// What happens when a time has passed.
    package enum Timer: Sendable {
        /// An app's supervisor is told this.
        case supervise(AppSupervisor<AppConnection>.Event, BundleID)
        /// An app had its time to say how notifications appear.
        case answersDue(BundleID)
        /// The responses of an app are read again.
        case giveResponses(BundleID, token: String?)
        /// What has expired at this instant ends.
        case expire(Timestamp)
        /// A question that an earlier run left on the screen leaves it.
        case forgetQuestion(NotificationID, BundleID)
        /// An event of the presenter is handled again.
        case presenterEvent(PresenterEvent)
        /// What is on the screen is looked at again, since its lock has changed.
        case refreshPreviews
        /// The schedule is told this.
        case schedule(RequestSchedule.Event)
        /// The manifest of an app that was missing is looked for again.
        case lookForApp(BundleID)
    }

    /// A person wants to answer with text, and the desktop cannot ask for it.
    package struct ReplyRequest: Sendable {
        /// What is answered.
        package var notification: WaitingNotification
        /// The identifier of the button that was pressed.
        package var button: String
        /// The name of the app.
        package var appName: String
        /// What lets the app take the focus.
        package var activationToken: String?
    }
}
