import AgentProtocol

// What the app asks for, from any thread.

extension AppHost {
    /// Waits for the welcome (at most a second), then launches the app through ``AppReceivers/application``.
    package nonisolated func beginLaunch() { postEvent(.launchBegan) }

    /// Reports that the app has launched and accepts notifications from now on.
    package nonisolated func finishLaunch() { postEvent(.launchFinished) }

    /// Sets whether the app has a receiver of responses.
    package nonisolated func setRespondent(exists: Bool) { postEvent(.respondentChanged(exists: exists)) }

    /// Notes that ``AppReceivers/calls`` takes the person's answers to calls.
    package nonisolated func receiveCallAnswers() { postEvent(.callsReceived) }

    /// Sets whether the app wants data messages now.
    package nonisolated func wantChannel(_ isWanted: Bool) { postEvent(.channelWanted(isWanted)) }

    /// Declares the app's state, for an app that the agent cannot observe.
    package nonisolated func declare(_ state: AppState) { postEvent(.stateDeclared(state)) }

    /// Asks for authorization. The answer comes on any thread; `nil` when it cannot be asked for.
    package nonisolated func requestAuthorization(options: UInt, answer: @escaping @Sendable (Bool?) -> Void) {
        post { host in
            let request = host.nextRequest()
            host.answers.authorizations[request] = answer
            host.handle(.authorizationRequested(request: request, options: options))
        }
    }

    /// Asks for the settings. The answer comes on any thread; `nil` when they cannot be asked for.
    package nonisolated func requestSettings(answer: @escaping @Sendable (NotificationSettings?) -> Void) {
        post { host in
            let request = host.nextRequest()
            host.answers.settings[request] = answer
            host.handle(.settingsRequested(request: request))
        }
    }

    /// Has the agent fetch a file, in a service extension. The answer comes once, on any thread.
    package nonisolated func requestMedia(_ media: MediaRequest, answer: @escaping @Sendable (MediaAnswer) -> Void) {
        post { host in
            let request = host.nextRequest()
            host.answers.media[request] = answer
            host.handle(.mediaRequested(request: request, media))
        }
    }

    /// Has the desktop open an address, or asks whether it may be opened. The answer comes once, on any thread; `nil` at
    /// once while no agent is connected.
    package nonisolated func requestOpening(
        _ url: String, isTrial: Bool, answer: @escaping @Sendable (OpeningAnswer?) -> Void
    ) {
        post { host in
            guard host.isConnected else { return answer(nil) }
            let request = host.nextRequest()
            host.answers.openings[request] = answer
            host.handle(.openingRequested(request: request, url: url, isTrial: isTrial))
        }
    }

    /// Asks something of the notification centre. The answer comes on any thread.
    package nonisolated func requestCenter(
        _ command: NotificationCenterCommand, answer: @escaping @Sendable (Result<CenterAnswer, CenterError>) -> Void
    ) {
        post { host in
            let request = host.nextRequest()
            do throws(AgentFrameError) {
                let frame = try AgentFrame.encode(AppMessage.center(request: request, command))
                host.answers.centers[request] = CenterRequest(frame: frame, answer: answer)
                host.handle(.centerRequested(request: request, command, size: frame.count))
            } catch {
                answer(.failure(.unsendable(error)))
            }
        }
    }

    /// Asks for the number on the app's icon. The answer comes on any thread; `nil` at once while no agent is
    /// connected.
    package nonisolated func requestBadge(answer: @escaping @Sendable (Int?) -> Void) {
        post { host in
            guard host.isConnected else { return answer(nil) }
            host.requestCenter(.badge) { given in
                if case .success(.badge(let badge)) = given { answer(badge) } else { answer(nil) }
            }
        }
    }

    /// Why the notification centre was not asked.
    package enum CenterError: Error {
        /// No message can carry it.
        case unsendable(AgentFrameError)
        /// The app has no id, another process is the app now, or too much waits already.
        case untaken
    }

    /// Asks for the device token, now and on every later connection.
    package nonisolated func registerForRemoteNotifications() {
        post { host in
            host.tokenWish.begin()
            host.handle(.registrationRequested(request: host.nextRequest()))
        }
    }

    /// Asks for the device token for ``AppReceivers/messaging``; the app's own handler does not get a token that it
    /// did not ask for.
    package nonisolated func requestToken() {
        post { $0.handle(.registrationRequested(request: $0.nextRequest())) }
    }

    /// Gives the device token back.
    package nonisolated func unregisterForRemoteNotifications() {
        post { host in
            host.tokenWish = AppTokenWish()
            host.handle(.unregistrationRequested(request: host.nextRequest()))
        }
    }

    /// Gives the device token back. The answer comes once, on any thread, when the server has done it or it is known
    /// that it has not; `nil` when it cannot be asked for.
    package nonisolated func endToken(answer: @escaping @Sendable (ChannelAnswer?) -> Void) {
        post { host in
            let request = host.nextRequest()
            host.answers.channelAnswers[request] = answer
            host.handle(.tokenEndAsked(request: request))
        }
    }

    /// Sends a message to the app's provider. The answer comes once, on any thread; `nil` when it cannot be asked for.
    package nonisolated func sendUpstream(
        _ draft: UpstreamDraft, answer: @escaping @Sendable (ChannelAnswer?) -> Void
    ) {
        askChannel(answer) { .send(request: $0, draft) }
    }

    /// Has the app join a topic or leave it. The answer comes once, on any thread; `nil` when it cannot be asked for.
    package nonisolated func setTopicSubscription(
        _ name: String, joins: Bool, answer: @escaping @Sendable (ChannelAnswer?) -> Void
    ) {
        askChannel(answer) { .topic(request: $0, name: name, joins: joins) }
    }

    private nonisolated func askChannel(
        _ answer: @escaping @Sendable (ChannelAnswer?) -> Void, _ command: @escaping @Sendable (Int64) -> ChannelCommand
    ) {
        post { host in
            let request = host.nextRequest()
            let command = command(request)
            guard let size = Self.size(of: .channel(command)) else {
                return answer(
                    .refused(code: ChannelFault.tooBig, message: "it does not fit into a message to the agent"))
            }
            host.answers.channelAnswers[request] = answer
            host.handle(.channelAsked(request: request, command, size: size))
        }
    }

    /// The bytes of a message's frame; `nil` for one that is too large.
    static func size(of message: AppMessage) -> Int? {
        // Encoding fails for no other reason.
        (try? AgentFrame.encode(message))?.count
    }

    /// A number for another request.
    func nextRequest() -> Int64 {
        answers.lastRequest += 1
        return answers.lastRequest
    }
}
