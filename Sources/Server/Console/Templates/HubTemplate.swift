extension Templates {
    /// The pages of a hub, and the choice of the hub where there are several.
    static let hubTop = #"""
        <nav aria-label="{{t.hub.pages}}"><ul class="links">
        {{#hubPages}}<li><a href="{{path}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{label}}</a></li>
        {{/hubPages}}
        </ul></nav>
        {{#chooser}}<form class="filters" method="get" action="{{path}}">
        <label>{{t.hub.hub}} <select name="hub">{{#options}}<option value="{{name}}"{{#isChosen}} selected{{/isChosen}}>{{name}}</option>{{/options}}</select></label>
        <div class="buttons"><button>{{t.hub.choose}}</button></div>
        </form>{{/chooser}}
        """#

    /// A field of a form, with the view of `FormField`.
    static let formField = #"""
        <div class="field{{#isWide}} wide{{/isWide}}">
        {{#check}}<label><input type="checkbox" name="{{name}}" value="1"{{#isChosen}} checked{{/isChosen}}{{#described}} aria-describedby="{{described}}"{{/described}}> {{label}}</label>{{/check}}
        {{^check}}<label for="{{id}}">{{label}}</label>{{/check}}
        {{#hint}}<span class="hint" id="{{id}}-hint">{{.}}</span>{{/hint}}
        {{#line}}<input id="{{id}}" name="{{name}}" type="{{type}}" value="{{value}}" autocomplete="off"{{#fault}} aria-invalid="true"{{/fault}}{{#described}} aria-describedby="{{described}}"{{/described}}>{{/line}}
        {{#area}}<textarea id="{{id}}" name="{{name}}" rows="{{rows}}" spellcheck="false"{{#fault}} aria-invalid="true"{{/fault}}{{#described}} aria-describedby="{{described}}"{{/described}}>
        {{value}}</textarea>{{/area}}
        {{#choice}}<select id="{{id}}" name="{{name}}"{{#fault}} aria-invalid="true"{{/fault}}{{#described}} aria-describedby="{{described}}"{{/described}}>{{#options}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{text}}</option>{{/options}}</select>{{/choice}}
        {{#fault}}<span class="invalid" id="{{id}}-fault">{{.}}</span>{{/fault}}
        </div>

        """#

    /// The addresses of the pages before and after.
    static let pager = #"""
        <nav class="pager" aria-label="{{t.hub.pager}}">{{#newest}}<a href="{{.}}">{{t.hub.first}}</a>{{/newest}} {{#older}}<a href="{{.}}" rel="next">{{t.hub.next}}</a>{{/older}}</nav>
        """#
}
