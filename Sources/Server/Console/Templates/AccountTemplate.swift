extension Templates {
    /// The overview of the account.
    static let account = #"""
        {{<layout}}{{$main}}
        <p>{{t.account.intro}}</p>
        <ol class="cards">
        {{#cards}}<li>
        <h2><a href="{{to}}">{{name}}</a></h2>
        <p class="figure">{{figure}}</p>
        <p>{{about}}</p>
        {{#warning}}<p class="warn-text"><span class="mark" aria-hidden="true">!</span> {{.}}</p>{{/warning}}
        </li>{{/cards}}
        </ol>
        <p class="quiet">{{t.account.profiles}}</p>
        {{/main}}{{/layout}}
        """#

    /// A list of the account with the forms that add to it.
    static let accountList = #"""
        {{<layout}}{{$main}}
        <p><a href="{{back}}">{{t.layout.back}}</a></p>
        {{#intro}}<p>{{.}}</p>{{/intro}}
        {{#tables}}{{>account-table}}{{/tables}}
        {{#forms}}{{>account-form}}{{/forms}}
        {{/main}}{{/layout}}
        """#

    /// A table of the account.
    static let accountTable = #"""
        <h2>{{heading}}</h2>
        {{#empty}}<p class="empty">{{.}}</p>{{/empty}}
        {{^empty}}<div class="scroll" tabindex="0" role="region" aria-label="{{heading}}">
        <table>
        <thead><tr>{{#columns}}<th scope="col">{{.}}</th>{{/columns}}</tr></thead>
        <tbody>
        {{#rows}}<tr>{{#cells}}<td>{{#time}}{{>time}}{{/time}}{{#link}}<a href="{{to}}"><bdi>{{words}}</bdi></a>{{/link}}{{#code}}<code>{{.}}</code>{{/code}}{{#text}}<bdi>{{.}}</bdi>{{/text}}{{#state}}<span class="{{tone}}-text"><span class="mark" aria-hidden="true">{{mark}}</span> {{words}}</span>{{/state}}</td>{{/cells}}{{#actions}}<td><div class="actions">{{#list}}{{#isForm}}<form method="post" action="{{to}}">{{>token}}<button aria-label="{{name}}">{{words}}</button></form>{{/isForm}}{{^isForm}}<a class="button" href="{{to}}" aria-label="{{name}}">{{words}}</a>{{/isForm}} {{/list}}</div></td>{{/actions}}</tr>
        {{/rows}}
        </tbody>
        </table>
        </div>{{/empty}}

        """#

    /// A form of the account.
    static let accountForm = #"""
        <form method="post" action="{{action}}">{{>token}}
        <fieldset>
        <legend>{{heading}}</legend>
        {{#hint}}<p>{{.}}</p>{{/hint}}
        <div class="fields">
        {{#fields}}{{>form-field}}{{/fields}}
        </div>
        <p><button class="main">{{button}}</button></p>
        </fieldset>
        </form>

        """#

    /// Secrets that are shown this once.
    static let accountOnce = #"""
        {{<layout}}{{$main}}
        <div class="verdict warn"><p><strong>{{t.account.once}}</strong></p>{{#after}}<p>{{.}}</p>{{/after}}</div>
        {{#secrets}}
        <h2>{{name}}</h2>
        <pre tabindex="0"><code>{{text}}</code></pre>
        {{#file}}<p><a class="button" href="{{to}}" download="{{name}}">{{words}}</a></p>{{/file}}
        {{/secrets}}
        <p><a href="{{back}}">{{t.layout.back}}</a></p>
        {{/main}}{{/layout}}
        """#

    /// The question before something is revoked or removed.
    static let accountConfirm = #"""
        {{<layout}}{{$main}}
        <div class="verdict warn"><p>{{consequence}}</p></div>
        <form method="post" action="{{action}}">{{>token}}
        {{#field}}{{>form-field}}{{/field}}
        <p class="actions"><button class="danger">{{button}}</button> <a class="button" href="{{back}}">{{t.account.cancel}}</a></p>
        </form>
        {{/main}}{{/layout}}
        """#
}
