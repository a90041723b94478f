// The service worker: shows each message, and reports the answer to the server.

const MOST_MESSAGES = 100;

// The newest messages are kept for the page; the cache has its entries in the order in which they came.
async function store(id, message) {
  const cache = await caches.open('messages');
  await cache.put(`/messages/${id}`, new Response(JSON.stringify(message)));
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, -MOST_MESSAGES).map(key => cache.delete(key)));
  for (const page of await self.clients.matchAll()) page.postMessage(id);
}

async function receive(event) {
  let whole = {};
  try { whole = event.data.json(); } catch { /* A message that is no JSON is shown as its text. */ }
  const {title = event.data?.text() ?? 'Inbox', body, tag, actions, navigate} = whole.notification ?? {};
  const id = tag ?? crypto.randomUUID();
  await self.registration.showNotification(title, {body, tag: id, actions, data: {id, title, body, navigate}});
  if ('setAppBadge' in navigator && whole.app_badge !== undefined) await navigator.setAppBadge(Number(whole.app_badge));
  await store(id, {title, body, at: Date.now()});
}

async function answer({notification, action}) {
  notification.close();
  const {id, title, body, navigate} = notification.data;
  await fetch('/answer', {
    method: 'POST', headers: {'content-type': 'application/json'},
    body: JSON.stringify({message: id, action: action || 'open'}),
  });
  await store(id, {title, body, action, at: Date.now()});
  if (action) return;
  const pages = await self.clients.matchAll({type: 'window'});
  if (pages.length) await pages[0].focus(); else await self.clients.openWindow(navigate ?? '/');
}

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', event => event.waitUntil(self.clients.claim()));
self.addEventListener('push', event => event.waitUntil(receive(event)));
self.addEventListener('notificationclick', event => event.waitUntil(answer(event)));
