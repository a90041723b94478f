part of 'protocol.dart';

/// What the agent says.
extension _Received on AgentProtocol {
  void _receive(JsonObject message) {
    if (message['type'] == 'refused') {
      close(AldabaError(member<String>(message, 'code'), member<String>(message, 'message')));
    } else if (_isConnected) {
      _receiveWelcomed(message);
    } else if (message['type'] == 'welcome') {
      _welcomed(message);
    } else {
      throw malformed('"${message['type']}" before "welcome"');
    }
  }

  void _welcomed(JsonObject message) {
    if (message['version'] != protocolVersion) {
      throw AldabaError('version',
          'the agent speaks version ${message['version']} of the protocol, and this client $protocolVersion');
    }
    final welcome = Welcome.fromJson(message);
    _isConnected = true;
    _wasWelcomed = true;
    _state ??= welcome.state;
    _repeat();
    _events.add(ConnectedEvent(welcome));
  }

  /// Sends what a new connection needs: answers that are not confirmed, requests, and at last that the app is ready.
  void _repeat() {
    _answers.frames.forEach(_write);
    final registration = _registration;
    final requests = _requests.all;
    // A token that is wanted after one that ends is another one, so the end is asked for first.
    for (final request in requests) {
      if (request.type == _unregister && request != registration) _write(request.frame);
    }
    if (registration != null) _write(registration.frame);
    for (final request in requests) {
      if (request.type != _register && request.type != _unregister) _write(request.frame);
    }
    if (role != ClientRole.app) return;
    _sayState();
    _say(<String, Object?>{'type': 'ready'});
    if (_isChannelWanted) _say(<String, Object?>{'type': 'channel', 'command': 'open'});
  }

  void _receiveWelcomed(JsonObject message) {
    switch (message['type']) {
      case 'authorizationAnswered':
      case 'settings':
      case 'centerAnswered':
      case 'opened':
      case 'fetched':
        _requests.complete(message['request'], message);
      case 'registered':
        _registered(message);
      case 'registrationFailed':
        _failed(message);
      case 'deliver':
        final kind = valueNamed(DeliveryKind.values, message['kind']) ?? DeliveryKind.foreground;
        _arrived(NotificationEvent(kind, _notification(message)));
      case 'respond':
        _arrived(ResponseEvent(NotificationResponse.fromJson(message)));
      case 'handledConfirmed':
        _answers.confirm('handled', members<int>(message, 'notifications'));
      case 'responsesConfirmed':
        _answers.confirm('responseHandled', members<int>(message, 'responses'));
      case 'channel':
        _receiveOfChannel(message);
      case 'enter':
        _entered(valueNamed(AppState.values, message['state']));
      case 'openSettings':
        _events.add(
            OpenSettingsEvent(optionalObject(message, 'notification', DeliveredNotification.fromJson)));
      case 'messagesDeleted':
        _arrived(MessagesDeletedEvent(member<int>(message, 'deletion'),
            count: member<int>(message, 'count'), since: member<int>(message, 'since')));
      case 'extend':
        final event = ExtendEvent(_notification(message));
        if (_extending.add(event.notification.id)) _events.add(event);
      case 'expire':
        _events.add(ExpireEvent(member<int>(message, 'notification')));
    }
  }

  void _receiveOfChannel(JsonObject message) {
    switch (message['event']) {
      case 'state':
        _events.add(ChannelStateEvent(isConnected: member<bool>(message, 'isConnected')));
      case 'message':
        _arrived(MessageEvent(_notification(message)));
      case 'takenConfirmed':
        _answers.confirm('taken', members<int>(message, 'messages'));
      case 'accepted':
        // A refused end of the token is asked for again on later connections, until it is accepted.
        final registration = _registration;
        if (registration != null &&
            registration.type == _unregister &&
            registration.number == message['request']) {
          _registration = null;
        }
        _requests.complete(message['request'], message);
      case 'refused':
        _failed(message);
      case 'ended':
        _arrived(UpstreamEndedEvent(member<int>(message, 'upstream'),
            message: member<String>(message, 'id'), code: member<String?>(message, 'code')));
    }
  }

  DeliveredNotification _notification(JsonObject message) {
    return DeliveredNotification.fromJson(member<JsonObject>(message, 'notification'));
  }

  /// Takes an event that the app answers. A known one is not given to the app again.
  void _arrived(AnsweredEvent event) {
    final known = _answers.known(event.answer, event.id);
    if (known != null) {
      _write(known);
    } else if (_answers.begin(event.answer, event.id)) {
      _events.add(event);
    }
  }

  void _failed(JsonObject message) {
    final number = message['request'];
    if (number == _registration?.number) _registering = null;
    _requests.fail(number, AldabaError(member<Object>(message, 'code'), member<String>(message, 'message')));
  }

  void _registered(JsonObject message) {
    final token = member<String>(message, 'token');
    final registration = _registration;
    if (registration == null || registration.type != _register) return;
    if (message['request'] != null && message['request'] != registration.number) return;
    final isNew = token != _token;
    _token = token;
    _registering = null;
    if (_requests.contains(registration.number)) {
      _requests.complete(registration.number, <String, Object?>{'token': token});
    } else if (isNew) {
      _events.add(TokenEvent(token));
    }
  }

  void _entered(AppState? state) {
    if (state == null) return;
    final isNew = state != _state;
    _state = state;
    _sayState();
    if (isNew) _events.add(StateEvent(state));
  }
}
