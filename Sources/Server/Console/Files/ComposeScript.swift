extension ConsoleFiles {
    /// The script of the form: it fetches the preview while a person types. Without it a button does the same.
    static let compose = #"""
        const form = document.querySelector("form[data-live]");
        if (form) follow(form);

        function follow(form) {
          const preview = form.querySelector("[data-preview]");
          let timer = 0;
          let request = null;

          form.addEventListener("input", (event) => {
            if (event.target.type === "file") return;
            clearTimeout(timer);
            timer = setTimeout(show, 250);
          });
          form.addEventListener("change", (event) => {
            // A file is uploaded by the server's page, which then has its address.
            if (event.target.type === "file" && event.target.files.length) form.requestSubmit();
          });
          // A preview must not come after the page was left.
          addEventListener("pagehide", () => request?.abort());

          async function show() {
            request?.abort();
            request = new AbortController();
            const data = new FormData(form);
            data.delete("file");
            data.set("fragment", "1");
            try {
              const answer = await fetch("/console/compose/preview", { method: "POST", body: data, signal: request.signal });
              if (answer.ok) put(await answer.text());
            } catch (error) {
              if (error.name !== "AbortError") throw error;
            }
          }

          function put(html) {
            const open = new Set([...preview.querySelectorAll("details[open]")].map((each) => each.id));
            preview.innerHTML = html;
            for (const details of preview.querySelectorAll("details")) details.open = open.has(details.id);
            const faults = new Map(
              [...preview.querySelectorAll("[data-field]")].map((each) => [each.dataset.field, each.dataset.text]));
            for (const error of form.querySelectorAll("[data-error]")) {
              const text = faults.get(error.dataset.error) ?? "";
              error.textContent = text;
              const field = document.getElementById("f-" + error.dataset.error);
              if (text) field?.setAttribute("aria-invalid", "true");
              else field?.removeAttribute("aria-invalid");
            }
          }
        }

        """#
}
