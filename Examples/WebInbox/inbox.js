// The page: subscribes and unsubscribes, and lists the messages that its worker has stored.

const texts = {
  en: {
    title: 'Inbox', on: 'Receive messages', off: 'Stop receiving messages', empty: 'There are no messages yet.',
    receiving: 'This browser receives messages.', stopped: 'This browser receives no messages.',
    denied: 'Notifications are blocked for this site. Allow them in the settings of the browser.',
    homeScreen: 'On an iPhone, add this page to the home screen first, and open it from there.',
    unsupported: 'This browser cannot receive push messages.', failed: 'The browser could not subscribe: ',
    silent: 'the browser does not answer',
  },
  es: {
    title: 'Bandeja', on: 'Recibir mensajes', off: 'Dejar de recibir mensajes', empty: 'Todavía no hay mensajes.',
    receiving: 'Este navegador recibe mensajes.', stopped: 'Este navegador no recibe mensajes.',
    denied: 'Las notificaciones de este sitio están bloqueadas. Permítelas en los ajustes del navegador.',
    homeScreen: 'En un iPhone, añade antes esta página a la pantalla de inicio y ábrela desde allí.',
    unsupported: 'Este navegador no puede recibir mensajes push.', failed: 'El navegador no pudo suscribirse: ',
    silent: 'el navegador no responde',
  },
};
const language = navigator.language.startsWith('es') ? 'es' : 'en';
const text = texts[language];
const [state, button, list] = ['state', 'switch', 'messages'].map(id => document.getElementById(id));
let registration;

// Firefox does not answer a page that asks while it starts, and some browsers never answer: it is asked again for a while.
async function asked(question) {
  for (let attempt = 0; attempt < 7; attempt++) {
    const answer = await Promise.race([
      question().then(value => [value]), new Promise(resolve => setTimeout(resolve, 3000)),
    ]);
    if (answer) return answer[0];
  }
  throw new Error(text.silent);
}

const post = (path, body) => fetch(path, {
  method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify(body),
}).then(async answer => { if (!answer.ok) throw new Error(await answer.text()); });

async function subscribe() {
  if (await Notification.requestPermission() !== 'granted') return;
  const key = await (await fetch('/key')).text();
  const subscription = await asked(
    () => registration.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key}));
  await post('/subscribe', subscription);
}

async function unsubscribe(subscription) {
  await subscription.unsubscribe();
  await post('/unsubscribe', {endpoint: subscription.endpoint});
}

async function show() {
  const subscription = await asked(() => registration.pushManager.getSubscription());
  const isDenied = Notification.permission === 'denied';
  state.textContent = subscription ? text.receiving : isDenied ? text.denied : text.stopped;
  button.textContent = subscription ? text.off : text.on;
  button.hidden = isDenied && !subscription;
  button.onclick = async () => {
    button.disabled = true;
    try {
      await (subscription ? unsubscribe(subscription) : subscribe());
      await show();
    } catch (error) { state.textContent = text.failed + error.message; }
    button.disabled = false;
  };
  document.documentElement.dataset.state = subscription ? 'receiving' : isDenied ? 'denied' : 'stopped';
  // A subscription that the browser has renewed, or that the server has lost, is stored again.
  if (subscription) await post('/subscribe', subscription);
}

async function showMessages() {
  const cache = await caches.open('messages');
  const kept = await Promise.all((await cache.keys()).reverse().map(async key => (await cache.match(key)).json()));
  list.replaceChildren(...kept.map(message => {
    const item = document.createElement('li');
    const time = new Date(message.at).toLocaleString(language);
    item.textContent = [message.title, message.body, message.action, time].filter(Boolean).join(' – ');
    return item;
  }));
  if (!kept.length) list.textContent = text.empty;
}

async function begin() {
  document.documentElement.lang = language;
  document.title = document.querySelector('[data-text]').textContent = text.title;
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) {
    state.textContent = /iPhone|iPad/.test(navigator.userAgent) ? text.homeScreen : text.unsupported;
    return;
  }
  navigator.serviceWorker.addEventListener('message', showMessages);
  await navigator.serviceWorker.register('/worker.js');
  registration = await navigator.serviceWorker.ready;
  await showMessages();
  await show();
}

begin();
