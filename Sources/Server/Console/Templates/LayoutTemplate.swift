extension Templates {
    /// The frame of every page. Pages replace its block `main`.
    static let layout = #"""
        <!doctype html>
        <html lang="{{language}}">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{title}} · {{t.layout.product}}</title>
        <link rel="stylesheet" href="/console/style.css">
        <link rel="icon" href="/console/icon.svg" type="image/svg+xml">
        {{$head}}{{/head}}
        </head>
        <body>
        <a class="skip" href="#main">{{t.layout.skip}}</a>
        <header class="top">
        <a class="brand" href="/console/">{{t.layout.product}}</a>
        <nav aria-label="{{t.layout.navigation}}">
        <ul>
        {{#navigation}}<li><a href="{{path}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{label}}</a></li>
        {{/navigation}}
        </ul>
        </nav>
        {{#person}}<form class="buttons" method="post" action="/console/logout">{{>token}}<a href="/console/sessions">{{.}}</a> <button>{{t.people.logout}}</button></form>{{/person}}
        </header>
        <main id="main" tabindex="-1">
        <h1>{{title}}</h1>
        {{#notice}}<p class="notice" role="status">{{.}}</p>{{/notice}}
        {{#fault}}<p class="fault" role="alert">{{.}}</p>{{/fault}}
        {{#hidesPayloads}}<p class="quiet">{{t.people.hidden}}</p>{{/hidesPayloads}}
        {{$main}}{{/main}}
        {{#same}}{{>same}}{{/same}}
        </main>
        <footer>
        <span>{{zone}} <a href="/console/preferences">{{t.preferences.title}}</a> · <a href="/console/api">{{t.api.title}}</a></span>
        <ul class="languages" aria-label="{{t.layout.language}}">
        {{#languages}}<li>{{#isCurrent}}<span lang="{{code}}" aria-current="true">{{name}}</span>{{/isCurrent}}{{^isCurrent}}<a lang="{{code}}" hreflang="{{code}}" href="/console/language?to={{code}}&amp;back={{path}}">{{name}}</a>{{/isCurrent}}</li>
        {{/languages}}
        </ul>
        </footer>
        </body>
        </html>
        """#

    /// The page of a refusal.
    static let error = #"""
        {{<layout}}{{$main}}
        <p class="fault" role="alert">{{message}}</p>
        <p><a href="/console/">{{t.layout.error.back}}</a></p>
        {{/main}}{{/layout}}
        """#

    /// An instant: `{{#at}}{{>time}}{{/at}}`, with the view of `PageRequest.time`.
    static let time = #"""
        <time datetime="{{iso}}">{{text}}</time>
        """#

    /// The hidden field of every form that is posted; empty where nobody logs in.
    static let token = #"""
        {{#csrf}}<input type="hidden" name="token" value="{{.}}">{{/csrf}}
        """#

    /// The commands that ask for the same as the page.
    static let same = #"""
        <details class="same"><summary>{{t.layout.request}}</summary>
        <h2>{{t.layout.request.curl}}</h2>
        <pre tabindex="0"><code>{{curl}}</code></pre>
        {{#command}}<h2>{{t.layout.request.command}}</h2>
        <pre tabindex="0"><code>{{command}}</code></pre>{{/command}}
        </details>
        """#
}
