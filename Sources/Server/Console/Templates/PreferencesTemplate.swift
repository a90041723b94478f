extension Templates {
    /// The form of a reader's language and time zone.
    static let preferences = #"""
        {{<layout}}{{$main}}
        <form method="post" action="/console/preferences">{{>token}}
        <div class="fields">
        <label>{{t.layout.language}} <select name="language">{{#languages}}<option value="{{code}}" lang="{{code}}"{{#isCurrent}} selected{{/isCurrent}}>{{name}}</option>{{/languages}}</select></label>
        <label>{{t.preferences.zone}} <input name="zone" value="{{zoneName}}" list="zones" autocomplete="off"{{#isInvalid}} aria-invalid="true"{{/isInvalid}}></label>
        </div>
        <datalist id="zones">{{#zones}}<option value="{{.}}">{{/zones}}</datalist>
        <p class="buttons"><button class="main">{{t.preferences.save}}</button></p>
        </form>
        {{/main}}{{/layout}}
        """#
}
