'use strict';
// The page. Texts of pushes are shown as texts, never as HTML.

const element = (id) => document.getElementById(id);

function show({ status, token, items }) {
  element('status').textContent = status;
  element('token').textContent = token ?? '';
  element('items').replaceChildren(...items.map(({ title, body, date, answer }) => {
    const item = document.createElement('li');
    const text = document.createElement('div');
    const detail = document.createElement('small');
    text.textContent = [title, body].filter(Boolean).join(': ');
    detail.textContent = [new Date(date).toLocaleString(), answer].filter(Boolean).join(' – ');
    item.append(text, detail);
    return item;
  }));
}

async function perform(action) {
  const { error, answer } = (await action()) ?? {};
  element('result').textContent = error ?? answer ?? '';
  show(await window.inbox.view());
}

for (const name of ['register', 'ask', 'clear']) {
  element(name).addEventListener('click', () => perform(window.inbox[name]));
}
window.inbox.onChange(show);
window.inbox.view().then(show);
