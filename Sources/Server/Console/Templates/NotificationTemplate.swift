extension Templates {
    /// The page of one notification.
    static let notification = #"""
        {{<layout}}{{$head}}<script type="module" src="/console/follow.js"></script>{{/head}}{{$main}}
        {{>notification-items}}
        {{#sent}}
        <section aria-label="{{t.notification.request}}">
        <h2>{{t.notification.request}}</h2>
        <pre tabindex="0"><code>{{request}}</code></pre>
        <h2>{{t.notification.answer}}</h2>
        <pre tabindex="0"><code>{{answer}}</code></pre>
        </section>
        {{/sent}}
        {{#kept}}
        <section aria-label="{{t.notification.request}}">
        <h2>{{t.notification.request}}</h2>
        <p class="quiet">{{t.notification.kept}}</p>
        <pre tabindex="0"><code>{{request}}</code></pre>
        <h2>{{t.notification.answer}}</h2>
        <pre tabindex="0"><code>{{answer}}</code></pre>
        </section>
        {{/kept}}
        {{^kept}}{{^sent}}<p class="quiet">{{t.notification.forgotten}}</p>{{/sent}}{{/kept}}
        {{/main}}{{/layout}}
        """#

    /// Notifications with their timelines, also as the live page gets them.
    static let notificationItems = #"""
        {{#items}}
        <section aria-label="{{name}}"{{#follow}} data-id="{{id}}" data-follow="/console/notifications/{{id}}/timeline" data-events="/console/inbox/events?device={{device}}"{{/follow}}>
        <h2><bdi>{{name}}</bdi></h2>
        <div class="verdict {{tone}}" role="status" data-part="verdict"><p><strong>{{why}}</strong></p>{{#detail}}<p><bdi>{{.}}</bdi></p>{{/detail}}{{#advice}}<p>{{.}}</p>{{/advice}}</div>
        <dl class="facts">
        <dt>{{t.notification.app}}</dt><dd>{{topic}}</dd>
        {{#device}}<dt>{{t.notification.device}}</dt><dd><a href="/console/devices/{{.}}">{{.}}</a></dd>{{/device}}
        <dt>{{t.notification.team}}</dt><dd>{{team}}</dd>
        {{#environment}}<dt>{{t.notification.environment}}</dt><dd>{{.}}</dd>{{/environment}}
        <dt>{{t.notification.id}}</dt><dd><code>{{id}}</code></dd>
        <dt>{{t.notification.apnsid}}</dt><dd><code>{{apnsId}}</code></dd>
        </dl>
        <div class="actions">
        {{#canWithdraw}}<form method="post" action="/console/notifications/{{id}}/withdraw">{{>token}}<button class="danger">{{t.notification.withdraw}}</button></form>{{/canWithdraw}}
        {{#canResend}}<form method="post" action="/console/notifications/{{id}}/resend">{{>token}}<button>{{t.notification.resend}}</button></form>{{/canResend}}
        </div>
        <h3>{{t.notification.timeline}}</h3>
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.notification.timeline}}" data-part="timeline">
        <table>
        <thead><tr><th scope="col">{{t.notification.state}}</th><th scope="col">{{t.notification.at}}</th><th scope="col">{{t.notification.took}}</th><th scope="col">{{t.notification.source}}</th><th scope="col">{{t.notification.note}}</th></tr></thead>
        <tbody>
        {{#timeline}}<tr><td><code>{{state}}</code>{{#apple}}<br><span class="quiet">{{t.notification.apple}} <a href="https://developer.apple.com/documentation/usernotifications/viewing-the-status-of-push-notifications-using-metrics-and-apns" rel="noreferrer">{{.}}</a></span>{{/apple}}</td><td>{{#at}}{{>time}}{{/at}}</td><td>{{took}}</td><td>{{source}}</td><td>{{note}}</td></tr>
        {{/timeline}}
        </tbody>
        </table>
        </div>
        {{#payload}}<h3>{{t.notification.payload}}</h3>
        {{#payloadFault}}<p class="bad-text">✗ <bdi>{{.}}</bdi></p>{{/payloadFault}}
        {{#isEncrypted}}<p>{{t.notification.encrypted}}</p>{{/isEncrypted}}
        <pre tabindex="0"><code>{{.}}</code></pre>{{/payload}}
        </section>
        {{/items}}
        """#
}
