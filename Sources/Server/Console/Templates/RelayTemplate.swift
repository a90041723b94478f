extension Templates {
    /// The list of the relay's accounts.
    static let relay = #"""
        {{<layout}}{{$main}}
        <p>{{t.relay.intro}}</p>
        {{#accounts}}
        <section>
        <h2>{{t.relay.account}} <code>{{short}}…</code></h2>
        <p>{{documents}}</p>
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.relay.account}} {{short}}">
        <table>
        <thead><tr><th scope="col">{{t.relay.device}}</th><th scope="col">{{t.relay.kind}}</th><th scope="col">{{t.relay.presence}}</th><th scope="col">{{t.relay.seen}}</th><th scope="col" class="number">{{t.relay.apps}}</th><th scope="col" class="number">{{t.relay.messages}}</th></tr></thead>
        <tbody>
        {{#devices}}<tr class="{{tone}}"><td><a href="/console/devices/{{device}}">{{device}}</a></td><td><bdi>{{kind}}</bdi>, <bdi>{{platform}}</bdi></td><td><span class="mark" aria-hidden="true">{{mark}}</span> {{presence}}</td><td>{{#seen}}{{>time}}{{/seen}}</td><td class="number">{{apps}}</td><td class="number">{{messages}}</td></tr>
        {{/devices}}
        </tbody>
        </table>
        </div>
        </section>
        {{/accounts}}
        {{^accounts}}<p class="empty">{{t.relay.none}}</p>{{/accounts}}
        <nav class="pager" aria-label="{{title}}">{{#first}}<a href="{{.}}">{{t.device.first}}</a>{{/first}} {{#next}}<a href="{{.}}" rel="next">{{t.device.next}}</a>{{/next}}</nav>
        {{/main}}{{/layout}}
        """#
}
