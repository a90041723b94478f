extension Templates {
    /// The list of devices.
    static let devices = #"""
        {{<layout}}{{$main}}
        <p>{{t.device.intro}}</p>
        <form class="filters" method="get" action="/console/devices">
        <label>{{t.device.app}} <input name="app" value="{{app}}" list="apps" autocomplete="off"></label>
        <datalist id="apps">{{#apps}}<option value="{{topic}}">{{/apps}}</datalist>
        <label>{{t.device.state}} <select name="state">{{#states}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{label}}</option>{{/states}}</select></label>
        <div class="buttons"><button>{{t.inbox.filter}}</button> <a class="button" href="/console/devices">{{t.inbox.clear}}</a></div>
        </form>
        <div class="scroll" tabindex="0" role="region" aria-label="{{title}}">
        <table>
        <thead><tr><th scope="col">{{t.device.device}}</th><th scope="col">{{t.device.state}}</th><th scope="col">{{t.device.apps}}</th><th scope="col">{{t.device.enrolled}}</th><th scope="col">{{t.device.seen}}</th></tr></thead>
        <tbody>
        {{#rows}}<tr class="{{tone}}"><td><a href="/console/devices/{{device}}">{{device}}</a></td><td><span class="mark" aria-hidden="true">{{mark}}</span> {{state}}</td><td>{{#places}}{{topic}} <span class="quiet">{{environment}}</span><br>{{/places}}</td><td>{{#enrolled}}{{>time}}{{/enrolled}}</td><td>{{#seen}}{{>time}}{{/seen}}</td></tr>
        {{/rows}}
        </tbody>
        </table>
        </div>
        {{^rows}}<p class="empty">{{empty}}</p>{{/rows}}
        <nav class="pager" aria-label="{{title}}">{{#first}}<a href="{{.}}">{{t.device.first}}</a>{{/first}} {{#next}}<a href="{{.}}" rel="next">{{t.device.next}}</a>{{/next}}</nav>
        {{/main}}{{/layout}}
        """#

    /// The page of one device.
    static let device = #"""
        {{<layout}}{{$head}}<script type="module" src="/console/live.js"></script>{{/head}}{{$main}}
        <div class="verdict {{tone}}"><p><strong><span aria-hidden="true">{{mark}}</span> {{verdict}}</strong></p><p>{{consequence}}</p></div>
        <dl class="facts">
        <dt>{{t.device.enrolled}}</dt><dd>{{#enrolled}}{{>time}}{{/enrolled}}</dd>
        <dt>{{t.device.seen}}</dt><dd>{{#seen}}{{>time}}{{/seen}}{{^seen}}{{t.device.seen.never}}{{/seen}}</dd>
        <dt>{{t.device.connection}}</dt><dd>{{#connected}}{{t.device.connection.since}} {{#since}}{{>time}}{{/since}}{{#network}} {{t.device.connection.from}} <code>{{.}}</code>{{/network}}{{/connected}}{{^connected}}{{t.device.connection.none}}{{/connected}}</dd>
        </dl>
        <h2>{{t.device.apps}}</h2>
        {{#apps}}
        <section class="app" aria-label="{{topic}} {{environment}}">
        <h3>{{topic}} <span class="quiet">{{environment}}</span></h3>
        <dl class="facts">
        <dt>{{t.device.team}}</dt><dd>{{team}}</dd>
        <dt>{{t.device.registered}}</dt><dd>{{#registered}}{{>time}}{{/registered}}</dd>
        <dt>{{t.device.permission}}</dt><dd>{{#permission}}{{text}} {{#at}}{{>time}}{{/at}}{{/permission}} <a href="{{suppressed}}">{{t.device.permission.suppressed}}</a></dd>
        <dt>{{t.device.waiting}}</dt><dd><a href="{{waitingPath}}">{{waiting}}</a></dd>
        <dt>{{t.device.missed}}</dt><dd>{{#missed}}<span>{{text}} {{#since}}{{>time}}{{/since}}</span><br>{{/missed}}{{^missed}}{{t.device.missed.none}}{{/missed}}</dd>
        <dt>{{t.device.encryption}}</dt><dd>{{encryption}}</dd>
        <dt>{{t.device.token}}</dt><dd><details><summary><code>{{masked}}</code> <span class="quiet">{{t.device.token.show}}</span></summary><p><code>{{token}}</code></p><p class="quiet">{{t.device.token.fcm}}</p></details></dd>
        {{#fcm}}<dt>{{t.device.fcm}}</dt><dd>{{t.device.fcm.sender}} <code>{{sender}}</code>, {{t.device.fcm.subtype}} <code>{{subtype}}</code>{{#installation}}, {{t.device.fcm.installation}} <code>{{.}}</code>{{/installation}}</dd>{{/fcm}}
        </dl>
        </section>
        {{/apps}}
        {{^apps}}<p class="empty">{{t.device.apps.none}}</p>{{/apps}}
        {{#test}}
        <section aria-labelledby="test">
        <h2 id="test">{{t.device.test}}</h2>
        <p>{{t.device.test.intro}}</p>
        <form class="fields" method="post" action="/console/devices/{{device}}/test#test">{{>token}}
        <label>{{t.device.test.app}} <select name="token"{{#fault}} aria-invalid="true" aria-describedby="test-fault"{{/fault}}>{{#choices}}<option value="{{token}}"{{#isChosen}} selected{{/isChosen}}>{{label}}</option>{{/choices}}</select></label>
        <label>{{t.device.test.title}} <input name="title" value="{{title}}" maxlength="200"></label>
        <label>{{t.device.test.body}} <input name="body" value="{{body}}" maxlength="1000"></label>
        {{#fault}}<p class="invalid wide" id="test-fault" role="alert">{{.}}</p>{{/fault}}
        <div class="buttons"><button class="main">{{t.device.test.send}}</button></div>
        </form>
        </section>
        {{/test}}
        <h2>{{t.device.notifications}}</h2>
        <p class="live" role="status" data-live-status></p>
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.device.notifications}}">
        <table data-live="/console/inbox/events?device={{device}}" data-limit="50">
        <thead><tr><th scope="col">{{t.inbox.when}}</th><th scope="col">{{t.inbox.what}}</th><th scope="col">{{t.inbox.app}}</th><th scope="col">{{t.inbox.device}}</th><th scope="col">{{t.inbox.state}}</th></tr></thead>
        <tbody>
        {{#rows}}{{>inbox-row}}{{/rows}}
        </tbody>
        </table>
        </div>
        {{^rows}}<p class="empty" data-empty>{{t.device.notifications.none}}</p>{{/rows}}
        <p><a href="/console/?device={{device}}">{{t.device.notifications.all}}</a></p>
        {{#changes}}
        <h2>{{t.device.change}}</h2>
        {{#canBlock}}<p>{{t.device.block.what}}</p><form method="post" action="/console/devices/{{device}}/block">{{>token}}<button class="danger">{{t.device.block}}</button></form>{{/canBlock}}
        {{#canUnblock}}<p>{{t.device.unblock.what}}</p><form method="post" action="/console/devices/{{device}}/unblock">{{>token}}<button>{{t.device.unblock}}</button></form>{{/canUnblock}}
        <p>{{t.device.revoke.what}}</p>
        <form method="post" action="/console/devices/{{device}}/revoke#revoke" id="revoke">{{>token}}
        <label><input type="checkbox" name="confirm" value="yes" required{{#revokeFault}} aria-invalid="true" aria-describedby="revoke-fault"{{/revokeFault}}> {{t.device.revoke.confirm}}</label>
        {{#revokeFault}}<p class="invalid" id="revoke-fault" role="alert">{{.}}</p>{{/revokeFault}}
        <p><button class="danger">{{t.device.revoke}}</button></p>
        </form>
        {{/changes}}
        {{/main}}{{/layout}}
        """#
}
