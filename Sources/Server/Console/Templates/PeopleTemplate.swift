extension Templates {
    /// The log-in.
    static let login = #"""
        {{<layout}}{{$main}}
        {{#isNew}}<p>{{t.people.login.new}}</p><pre tabindex="0"><code>aldaba person link</code></pre>{{/isNew}}
        <form method="post" action="/console/login">
        <input type="hidden" name="next" value="{{next}}">
        <div class="fields">
        <label>{{t.people.name}} <input name="name" value="{{name}}" autocomplete="username" autocapitalize="none" required></label>
        <label>{{t.people.password}} <input name="password" type="password" autocomplete="current-password" required></label>
        <div class="buttons"><button class="main">{{t.people.login}}</button>{{#hasProvider}} <a class="button" href="/console/login/provider?next={{next}}">{{t.people.provider}}</a>{{/hasProvider}}</div>
        </div>
        </form>
        {{/main}}{{/layout}}
        """#

    /// The page of a link by which a person sets a password.
    static let setUp = #"""
        {{<layout}}{{$main}}
        <p>{{#known}}{{t.people.setup.known}} <strong>{{.}}</strong>{{/known}}{{^known}}{{t.people.setup.first}}{{/known}}</p>
        <form method="post" action="/console/setup">
        <input type="hidden" name="link" value="{{link}}">
        <div class="fields">
        {{^known}}<label>{{t.people.name}} <input name="name" value="{{given}}" autocomplete="username" autocapitalize="none" required{{#nameFault}} aria-invalid="true" aria-describedby="name-fault"{{/nameFault}}>{{#nameFault}} <span class="invalid" id="name-fault">{{.}}</span>{{/nameFault}}</label>{{/known}}
        {{#known}}<input type="hidden" name="name" value="{{.}}" autocomplete="username">{{/known}}
        <label>{{t.people.password.new}} <input name="password" type="password" autocomplete="new-password" minlength="{{shortest}}" required aria-describedby="password-hint{{#passwordFault}} password-fault{{/passwordFault}}"{{#passwordFault}} aria-invalid="true"{{/passwordFault}}>
        <span class="hint" id="password-hint">{{hint}}</span>{{#passwordFault}} <span class="invalid" id="password-fault">{{.}}</span>{{/passwordFault}}</label>
        <div class="buttons"><button class="main">{{t.people.setup.save}}</button>{{#hasProvider}} <a class="button" href="/console/login/provider?for=link&amp;link={{link}}">{{t.people.provider}}</a>{{/hasProvider}}</div>
        </div>
        </form>
        {{/main}}{{/layout}}
        """#

    /// The question for the password, before what is dangerous.
    static let confirm = #"""
        {{<layout}}{{$main}}
        <p>{{t.people.confirm.why}}</p>
        {{#hasProvider}}<p><a class="button" href="/console/login/provider?for=confirm&amp;next={{next}}">{{t.people.provider}}</a></p>{{/hasProvider}}
        {{#hasPassword}}<form method="post" action="/console/confirm">{{>token}}
        <input type="hidden" name="next" value="{{next}}">
        <input type="hidden" name="name" value="{{name}}" autocomplete="username">
        <div class="fields">
        <label>{{t.people.password}} <input name="password" type="password" autocomplete="current-password" required></label>
        <div class="buttons"><button class="main">{{t.people.confirm.go}}</button></div>
        </div>
        </form>{{/hasPassword}}
        {{/main}}{{/layout}}
        """#

    /// The sessions of the person.
    static let sessions = #"""
        {{<layout}}{{$main}}
        <h2>{{t.people.roles}}</h2>
        <ul>{{#roles}}<li>{{label}}{{#isChosen}} ({{t.people.chosen}}){{/isChosen}}</li>{{/roles}}</ul>
        {{^roles}}<p>{{t.people.norole}}</p>{{/roles}}
        {{#hasChoice}}<form class="filters" method="post" action="/console/team">{{>token}}
        <label>{{t.people.act}} <select name="team">{{#roles}}<option value="{{team}}"{{#isChosen}} selected{{/isChosen}}>{{label}}</option>{{/roles}}</select></label>
        <div class="buttons"><button>{{t.people.choose}}</button></div>
        </form>{{/hasChoice}}
        <h2>{{t.people.sessions}}</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="{{t.people.sessions}}">
        <table>
        <thead><tr><th scope="col">{{t.people.browser}}</th><th scope="col">{{t.people.address}}</th><th scope="col">{{t.people.begun}}</th><th scope="col">{{t.people.used}}</th><th scope="col">{{t.people.end}}</th></tr></thead>
        <tbody>
        {{#sessions}}<tr><td><bdi>{{agent}}</bdi>{{#isOwn}} <strong>({{t.people.this}})</strong>{{/isOwn}}</td><td>{{address}}</td><td>{{#begun}}{{>time}}{{/begun}}</td><td>{{#used}}{{>time}}{{/used}}</td><td><form method="post" action="/console/sessions/{{id}}/end">{{>token}}<button>{{t.people.end}}</button></form></td></tr>
        {{/sessions}}
        </tbody>
        </table>
        </div>
        {{#hasOthers}}<form method="post" action="/console/sessions/end">{{>token}}<button class="danger">{{t.people.endothers}}</button></form>{{/hasOthers}}
        {{/main}}{{/layout}}
        """#

    /// The people of the console.
    static let accounts = #"""
        {{<layout}}{{$main}}
        {{#link}}<div class="notice" role="status"><p>{{t.people.link.made}} <strong>{{person}}</strong></p><pre tabindex="0"><code>{{address}}</code></pre></div>{{/link}}
        <div class="scroll" tabindex="0" role="region" aria-label="{{title}}">
        <table>
        <thead><tr><th scope="col">{{t.people.name}}</th><th scope="col">{{t.people.roles}}</th><th scope="col">{{t.people.change}}</th></tr></thead>
        <tbody>
        {{#people}}<tr><td>{{name}}{{^hasPassword}}<br><span class="quiet">{{t.people.waiting}}</span>{{/hasPassword}}</td><td>{{#roles}}{{.}}<br>{{/roles}}{{^roles}}{{t.people.norole}}{{/roles}}</td>
        <td><form class="fields" method="post" action="/console/accounts/{{id}}/roles">{{>token}}{{>role-fields}}
        <div class="buttons"><button>{{t.people.save}}</button></div></form>
        {{#isOwner}}<div class="actions"><form method="post" action="/console/accounts/{{id}}/link">{{>token}}<button>{{t.people.link}}</button></form>
        <form method="post" action="/console/accounts/{{id}}/remove">{{>token}}<button class="danger">{{t.people.remove}}</button></form></div>{{/isOwner}}</td></tr>
        {{/people}}
        </tbody>
        </table>
        </div>
        <h2>{{t.people.add}}</h2>
        <form class="fields" method="post" action="/console/accounts">{{>token}}
        <label>{{t.people.name}} <input name="name"{{#given}} value="{{.}}"{{/given}} autocomplete="off" autocapitalize="none" required{{#nameFault}} aria-invalid="true" aria-describedby="name-fault"{{/nameFault}}>{{#nameFault}} <span class="invalid" id="name-fault">{{.}}</span>{{/nameFault}}</label>
        {{>role-fields}}
        <div class="buttons"><button class="main">{{t.people.add}}</button></div>
        </form>
        {{/main}}{{/layout}}
        """#

    /// The fields of a role: the role, its team and its device.
    static let roleFields = #"""
        <label>{{t.people.role}} <select name="role"><option value="">{{t.people.role.none}}</option>{{#choices}}<option value="{{role}}">{{label}}</option>{{/choices}}</select></label>
        {{^isLimited}}<label>{{t.people.team}} <input name="team" autocomplete="off" maxlength="10" placeholder="{{t.people.everyteam}}"></label>{{/isLimited}}
        <label>{{t.people.device}} <input name="device" inputmode="numeric" autocomplete="off"></label>
        """#
}
