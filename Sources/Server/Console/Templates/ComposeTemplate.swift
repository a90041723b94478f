extension Templates {
    /// The form of a notification with its preview.
    static let compose = #"""
        {{<layout}}{{$head}}<script type="module" src="/console/compose.js"></script>{{/head}}{{$main}}
        <p>{{t.compose.intro}}</p>
        <form class="compose" method="post" action="/console/compose/preview" enctype="multipart/form-data" data-live>{{>token}}
        <div>
        <div class="buttons"><button name="do" value="preview">{{t.compose.preview}}</button></div>
        <input type="hidden" name="key" value="{{key}}"><input type="hidden" name="mediaBytes" value="{{mediaBytes}}">
        {{#content}}{{>compose-group}}{{/content}}
        {{#recipients}}{{>compose-group}}{{/recipients}}
        <fieldset><legend>{{t.compose.group.languages}}</legend>
        {{#locales}}<fieldset><legend>{{legend}}</legend><input type="hidden" name="language" value="{{language}}"><div class="fields">{{#fields}}{{>compose-field}}{{/fields}}</div>
        <button name="removeLanguage" value="{{language}}">{{remove}}</button></fieldset>{{/locales}}
        <div class="fields"><div><label for="f-newLanguage">{{t.compose.field.newLanguage}}</label><input id="f-newLanguage" name="newLanguage" list="languages" autocomplete="off" maxlength="35"></div>
        <datalist id="languages"><option value="en"><option value="es"><option value="de"><option value="fr"><option value="it"><option value="pt-BR"><option value="nl"><option value="pl"><option value="ja"><option value="zh-Hans"></datalist>
        {{#shown}}{{>compose-field}}{{/shown}}
        <button>{{t.compose.add}}</button></div></fieldset>
        <fieldset><legend>{{t.compose.group.media}}</legend><div class="fields">
        <div><label for="f-file">{{t.compose.field.file}}</label><input id="f-file" name="file" type="file" accept="image/*,video/*" aria-describedby="h-file"><span class="hint" id="h-file">{{t.compose.hint.file}}</span></div>
        {{#media}}{{>compose-field}}{{/media}}</div></fieldset>
        <fieldset><legend>{{t.compose.group.actions}}</legend><div class="fields">{{#actions}}{{>compose-field}}{{/actions}}</div></fieldset>
        {{#more}}{{>compose-group}}{{/more}}
        <datalist id="apps">{{#apps}}<option value="{{topic}}">{{/apps}}</datalist>
        <details{{#isOpen}} open{{/isOpen}}><summary>{{t.compose.campaign}}</summary>
        {{#campaign}}{{>compose-group}}{{/campaign}}
        <fieldset><legend>{{t.compose.group.test}}</legend><div class="fields">{{#test}}{{>compose-field}}{{/test}}
        <button name="do" value="test" formaction="/console/compose/send">{{t.compose.try}}</button></div></fieldset>
        </details>
        {{#confirm}}<div class="verdict warn"><p><label for="f-confirm">{{text}}</label><input id="f-confirm" name="confirm" inputmode="numeric" autocomplete="off" placeholder="{{count}}"></p></div>{{/confirm}}
        <div class="buttons"><button class="main" name="do" value="send" formaction="/console/compose/send">{{t.compose.send}}</button>
        <button name="do" value="preview">{{t.compose.preview}}</button></div>
        </div>
        <div data-preview tabindex="0" role="region" aria-label="{{t.compose.preview}}">{{>compose-preview}}</div>
        </form>
        <details class="same"><summary>{{t.compose.import}}</summary>
        <form method="post" action="/console/compose/import" enctype="multipart/form-data">{{>token}}
        <label for="f-payload">{{t.compose.field.payload}}</label><textarea id="f-payload" name="payload" spellcheck="false" aria-describedby="h-payload">{{payload}}</textarea>
        <span class="hint" id="h-payload">{{t.compose.hint.payload}}</span>
        <label>{{t.compose.field.apns}} <input name="file" type="file" accept=".apns,.json,application/json"></label>
        <button>{{t.compose.read}}</button>
        </form></details>
        {{/main}}{{/layout}}
        """#

    /// Fields under one heading.
    static let composeGroup = #"""
        <fieldset><legend>{{legend}}</legend>{{#note}}<p class="hint">{{.}}</p>{{/note}}<div class="fields">{{#fields}}{{>compose-field}}{{/fields}}</div></fieldset>
        """#

    /// A field with its hint and its fault.
    static let composeField = #"""
        <div{{#area}} class="wide"{{/area}}><label for="f-{{name}}">{{label}}</label>
        {{#line}}<input id="f-{{name}}" name="{{name}}" type="{{type}}"{{#mode}} inputmode="{{.}}"{{/mode}} value="{{value}}"{{#list}} list="{{.}}"{{/list}} autocomplete="off"{{#error}} aria-invalid="true"{{/error}} aria-describedby="h-{{name}} e-{{name}}">{{/line}}
        {{#area}}<textarea id="f-{{name}}" name="{{name}}"{{#error}} aria-invalid="true"{{/error}} aria-describedby="h-{{name}} e-{{name}}">{{value}}</textarea>{{/area}}
        {{#choice}}<select id="f-{{name}}" name="{{name}}"{{#error}} aria-invalid="true"{{/error}} aria-describedby="h-{{name}} e-{{name}}">{{#options}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{text}}</option>{{/options}}</select>{{/choice}}
        {{#check}}<input id="f-{{name}}" name="{{name}}" type="checkbox" value="yes"{{#isChosen}} checked{{/isChosen}}{{#error}} aria-invalid="true"{{/error}} aria-describedby="h-{{name}} e-{{name}}">{{/check}}
        <span class="hint" id="h-{{name}}">{{hint}}</span><span class="invalid" id="e-{{name}}" data-error="{{name}}">{{error}}</span></div>
        """#

    /// The previews, the sizes, and the notification for each interface.
    static let composePreview = #"""
        <p class="live" role="status">{{status}}</p>
        <ul class="faults">{{#faults}}<li class="invalid" data-field="{{field}}" data-text="{{text}}">✗ <a href="#f-{{field}}">{{label}}</a>: {{text}}</li>{{/faults}}</ul>
        <h2>{{t.compose.seen}}</h2>
        <p class="hint">{{t.compose.approximation}}</p>
        {{#silent}}<p>{{t.compose.nothing}}</p>{{/silent}}
        <ul class="screens">{{#screens}}<li><h3>{{name}}</h3><div class="screen" data-screen="{{kind}}">{{#hasPicture}}<span class="thumb" role="img" aria-label="{{t.compose.picture}}">▣</span>{{/hasPicture}}<span class="quiet">{{app}}</span><strong><bdi>{{heading}}</bdi></strong>{{#rest}}<bdi>{{.}}</bdi>{{/rest}}</div>{{#notes}}<p class="hint">{{.}}</p>{{/notes}}</li>{{/screens}}</ul>
        {{#hasPayloads}}<h2>{{t.compose.sizes}}</h2>
        <dl class="sizes">{{#usage}}<dt>{{name}}</dt><dd data-service="{{service}}"><meter min="0" max="{{limit}}" high="{{high}}" value="{{bytes}}" aria-label="{{name}}"></meter> <span>{{mark}} {{text}}: {{verdict}}</span></dd>{{/usage}}</dl>{{/hasPayloads}}
        {{#audience}}<h2>{{t.compose.audience}}</h2><p data-audience><strong>{{text}}</strong>{{#sample}}<br><span class="quiet">{{t.compose.sample}} <bdi>{{.}}</bdi></span>{{/sample}}</p>{{/audience}}
        {{#load}}<h2>{{t.compose.load}}</h2><p>{{text}}</p>{{#guess}}<p class="hint">{{.}}</p>{{/guess}}{{#offer}}<p><button name="rate" value="{{rate}}">{{text}}</button></p>{{/offer}}{{/load}}
        {{#hasPayloads}}<h2>{{t.compose.views}}</h2>
        {{#views}}<details id="view-{{id}}"><summary>{{name}}</summary><pre tabindex="0"><code>{{text}}</code></pre></details>{{/views}}{{/hasPayloads}}
        """#
}
